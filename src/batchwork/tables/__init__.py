"""Rows in (files, standard input, foreign tables), prompts from them by template, and rows out."""

from batchwork.tables.columns import (
    RESULT_NAMES,
    RESULT_TYPES,
    answer_fields,
    check_columns,
    plain_answer,
    result_columns,
    result_values,
)
from batchwork.tables.exports import Exports
from batchwork.tables.frames import table_of
from batchwork.tables.reader import STDIN, open_table, total_rows
from batchwork.tables.requests import AnyTemplate, RowRequests, row_texts, template_from
from batchwork.tables.row_options import RowOptions
from batchwork.tables.table import Table, TableRow
from batchwork.tables.template import MissingColumn, Template
from batchwork.tables.writer import check_output, write_table
