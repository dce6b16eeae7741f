"""Rows in (JSONL, CSV, Parquet, standard input), prompts from them by template, and rows out."""

from batchwork.tables.columns import RESULT_NAMES, check_columns, result_columns, result_values
from batchwork.tables.reader import STDIN, open_table, total_rows
from batchwork.tables.table import Table, TableRow
from batchwork.tables.template import MissingColumn, Template
from batchwork.tables.writer import check_output, write_table
