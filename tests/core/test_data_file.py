import re
from pathlib import Path

import msgspec
import pytest

from batchwork.core.data_file import read_data_file


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: re.Pattern[str]
    tokens: int = 0


def _read(folder: Path, text: str) -> dict[str, Row]:
    (folder / "rows.toml").write_text(text, encoding="utf-8")
    return read_data_file(str(folder / "module.py"), "rows.toml", dict[str, Row])


def test_a_table_stands_beside_its_module_and_its_patterns_are_compiled(tmp_path: Path) -> None:
    rows = _read(tmp_path, "[a]\nmodels = 'gpt-\\d'\ntokens = 7\n")
    assert rows["a"].models.fullmatch("gpt-5")
    assert rows["a"].tokens == 7


@pytest.mark.parametrize(
    "text", ["[a]\ntokens = 7", "[a]\nmodels = 'x'\ncolour = 1", "[a]\nmodels = 'x'\ntokens = '7'"]
)
def test_a_table_that_is_not_of_its_type_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        _read(tmp_path, text)
