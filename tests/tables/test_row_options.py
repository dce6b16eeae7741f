from typing import Any

import pytest

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables import RowOptions

OPTIONS = RowOptions({"system": "role", "max_tokens": "limit", "temperature": "t", "stop": "end"})


@pytest.mark.parametrize(
    ("row", "own"),
    [
        ({"role": "Be brief.", "limit": 20, "t": 0.5}, {"system": "Be brief.", "max_tokens": 20, "t": 0.5}),
        ({"role": "Be brief.", "limit": "20", "t": "0.5"}, {"system": "Be brief.", "max_tokens": 20, "t": 0.5}),
        ({"limit": 20.0}, {"max_tokens": 20}),
        ({"role": None, "limit": " ", "t": ""}, {}),
        ({}, {}),
        ({"role": 7}, {"system": "7"}),
    ],
)
def test_a_cell_says_what_the_run_would_and_an_empty_one_leaves_it_to_the_run(row: Any, own: dict[str, Any]) -> None:
    temperature = {"sampling": {"temperature": own.pop("t")}} if "t" in own else {}
    assert OPTIONS.of(row, None) == own | temperature


def test_sampling_of_a_row_stands_beside_that_of_the_run() -> None:
    assert OPTIONS.of({"t": 0.5, "end": "END"}, {"top_p": 0.9, "temperature": 1}) == {
        "sampling": {"top_p": 0.9, "temperature": 0.5, "stop": "END"}
    }


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"limit": "many"}, "column 'limit' is 'many', and max_tokens must be a whole number of at least 1"),
        ({"limit": 0}, "column 'limit' is 0"),
        ({"limit": 1.5}, "column 'limit' is 1.5"),
        ({"limit": True}, "column 'limit' is True"),
        ({"t": "hot"}, "column 't' is 'hot', and temperature must be a number"),
    ],
)
def test_a_cell_that_makes_no_sense_is_named(row: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        OPTIONS.of(row, None)


@pytest.mark.parametrize("columns", [["system"], "system", {"system": 5}])
def test_what_names_no_columns_is_refused(columns: Any) -> None:
    with pytest.raises(ConfigError, match="per_row says which column holds an option"):
        RowOptions(columns)
