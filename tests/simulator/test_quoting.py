"""The persona that quotes: what each character says, and what its file must be."""

from pathlib import Path
from random import Random

import pytest

from batchwork.simulator.errors import SimulatorConfigError
from batchwork.simulator.quoting import KnownDocument, quotes_of, quoting_persona

TEXT = "Invoice\nNet: 40.00\nTax: 2.00\n\nNet\n40.00\n"
KNOWN = KnownDocument(text=TEXT, answer={}, places={"net": [(13, 18)], "tax": [(24, 28)], "again": [(34, 39)]})


def said(character: str) -> list[tuple[str, str]]:
    return [(one["field"], one["quote"]) for one in quotes_of(KNOWN, character, Random(1))]


def test_each_character_quotes_in_its_own_way() -> None:
    assert said("exact") == [("net", "Net: 40.00"), ("tax", "Tax: 2.00"), ("again", "Net\n40.00")]
    assert said("short") == [("net", "40.00"), ("tax", "2.00"), ("again", "40.00")]
    assert [path for path, _ in said("sloppy")] == ["net", "tax", "again"]
    lies = said("lying")
    assert len(lies) == 6
    assert lies[0] == ("net", "Net\n40.00"), "the words of another field that has the same value"
    assert lies[1][1] not in TEXT
    assert not {quote for path, quote in lies if path == "tax"} & {"Tax: 2.00"}


@pytest.mark.parametrize("option", ["exact", "honest:FILE", "exact:", "exact:nowhere.jsonl", "exact:BROKEN"])
def test_a_character_or_a_file_that_is_not_there_is_refused(option: str, tmp_path: Path) -> None:
    (tmp_path / "broken").write_text('{"text": 3}')
    with pytest.raises(SimulatorConfigError, match="quotes"):
        quoting_persona(option.replace("BROKEN", str(tmp_path / "broken")), 0)
