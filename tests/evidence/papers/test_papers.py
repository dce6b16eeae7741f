"""The labels of the real papers are well-formed, and the score counts as it says. No finder is needed here."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema_rs
import pytest

from batchwork.documents import Document
from tests.evidence.papers import Field, Found, Paper, counts, entries, load, nested
from tests.evidence.papers.roff import plain_text
from tests.evidence.papers.score import Cited, is_right, score
from tests.evidence.tally import BINS, Tally

PARTS = ("open", "blind")
KINDS = 8
DATE = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?")


@pytest.fixture(scope="module", params=PARTS)
def found(request: pytest.FixtureRequest) -> Found:
    return load(request.param)


def test_the_set_is_large_and_of_many_kinds_and_a_third_is_blind() -> None:
    lines = {part: list(entries(part)) for part in PARTS}
    every = [entry for part in PARTS for entry in lines[part]]
    fields = [entry for paper in every for entry in paper["fields"]]
    empties = [entry for entry in fields if not entry[2]]
    assert len(every) >= 150
    assert len(fields) - len(empties) >= 1000
    assert len(empties) >= 200
    assert 0.2 <= sum(entry[1] is not None for entry in empties) / len(empties) <= 0.5
    kinds = {part: Counter(entry["kind"] for entry in lines[part]) for part in PARTS}
    assert len(kinds["open"]) >= KINDS
    for kind, number in (kinds["open"] + kinds["blind"]).items():
        assert abs(kinds["blind"][kind] - number / 3) <= 2, kind


def test_no_text_is_in_both_parts() -> None:
    sources, digests = (
        {part: {entry[key] for entry in entries(part)} for part in PARTS} for key in ("source", "sha256")
    )
    assert not sources["open"] & sources["blind"]
    assert not digests["open"] & digests["blind"]
    assert len(digests["open"]) == sum(1 for _ in entries("open"))


def test_papers_of_pinned_packages_are_found_and_the_missing_are_counted(found: Found) -> None:
    if found.missing:
        print(found)
    assert any(paper.source.startswith("pypi:") for paper in found.papers)
    assert str(found).startswith(f"{len(found.papers)} of {len(found.papers) + len(found.missing)} documents found")
    assert sum(row["documents"] for row in counts(found).values()) == len(found.papers)


def test_answers_fit_the_schemas_that_ask_for_them(found: Found) -> None:
    for paper in found.papers:
        errors = list(jsonschema_rs.iter_errors(paper.schema, paper.answer))
        assert not errors, (paper.source, str(errors[0])[:200])


def test_every_path_is_labelled_once(found: Found) -> None:
    for paper in found.papers:
        paths = [entry.path for entry in paper.fields]
        assert len(paths) == len(set(paths)), paper.source
        elements = [re.fullmatch(r"(.*)\[(\d+)\]", path) for path in paths]
        ranks = [(found[1], int(found[2])) for found in elements if found]
        known = Counter[str]()
        for name, rank in ranks:
            assert rank == known[name], (paper.source, name)  # a list of plain values has no gaps
            known[name] += 1


def test_spans_say_their_values(found: Found) -> None:
    for paper in found.papers:
        for entry in paper.fields:
            for start, end in entry.spans:
                words = paper.document.text[start:end]
                assert words, (paper.source, entry.path)
                assert words == words.strip(), (paper.source, entry.path)
                assert says(words, entry), (paper.source, entry.path)


def test_invented_values_are_marked_and_only_those(found: Found) -> None:
    for paper in found.papers:
        for entry in paper.fields:
            assert ("i" in entry.marks) == (entry.is_empty and entry.value is not None), (paper.source, entry.path)


def says(words: str, entry: Field) -> bool:
    """A plain rule: the same words, number or date; what is marked as written otherwise has at least its digits."""
    value = entry.value
    if isinstance(value, str) and (date := DATE.match(value)):
        digits = re.sub(r"\D", " ", words).split()
        year_month_day = {date[1], date[1][2:], date[3] or date[1], (date[3] or date[1]).lstrip("0")}
        return bool(year_month_day & set(digits)) or "".join(digits) == value.replace("-", "")
    if set(entry.marks) & {"n", "p"}:
        return True
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(words.replace(",", "")) == float(value)
        except ValueError:
            return words in ("three", "fifty percent")
    return squashed(words) == squashed(str(value))


def squashed(words: str) -> str:
    return " ".join(words.split()).rstrip(".").casefold()


@dataclass(frozen=True)
class At:
    start: int
    end: int
    confidence: float = 0.9


def test_a_citation_is_right_when_it_covers_the_value_and_little_more() -> None:
    entry = Field(path="a", value="x", spans=((100, 110),), marks="")
    assert is_right(At(100, 110), entry)
    assert is_right(At(90, 112), entry)
    assert not is_right(At(100, 109), entry)
    assert not is_right(At(60, 110), entry)
    phrase = Field(path="a", value="x", spans=((100, 110),), marks="p")
    assert is_right(At(105, 140), phrase)
    assert not is_right(At(110, 140), phrase)


def test_a_perfect_finder_scores_one_and_a_greedy_one_is_seen() -> None:
    papers = load("open").papers[:12]

    def perfect(document: Document, schema: dict[str, Any], answer: Any) -> Mapping[str, Sequence[Cited]]:
        paper = next(paper for paper in papers if paper.document is document)
        return {entry.path: [At(*span, 1.0) for span in entry.spans] for entry in paper.fields}

    def greedy(document: Document, schema: dict[str, Any], answer: Any) -> Mapping[str, Sequence[Cited]]:
        paper = next(paper for paper in papers if paper.document is document)
        return {entry.path: [At(0, len(document.text), 1.0)] for entry in paper.fields if "p" not in entry.marks}

    best = score(papers, perfect)["all"]
    assert (best.precision, best.recall, best.false, best.calibration_error) == (1.0, 1.0, 0, 0.0)
    worst = score(papers, greedy)["all"]
    assert worst.precision < 0.1
    assert worst.false == worst.empties > 0


def test_the_calibration_error_is_the_mean_distance_of_bins_of_equal_count() -> None:
    promises = [(0.1, False)] * 10 + [(0.9, True)] * 5 + [(0.9, False)] * 5 + [(1.0, True)] * 5
    tally = Tally(promises=promises)
    assert BINS == 5
    assert tally.calibration_error == pytest.approx((1.0 + abs(9.0 - 5)) / 25, abs=0.11)
    assert Tally().calibration_error == 0.0


def test_paths_nest_as_the_answer_does() -> None:
    assert nested([("a.b", 1), ("c[0].d", 2), ("c[1].d", None), ("e[0]", "x")]) == {
        "a": {"b": 1},
        "c": [{"d": 2}, {"d": None}],
        "e": ["x"],
    }


def test_a_man_page_becomes_plain_text() -> None:
    head = '.TH X 1 "2 May 2024"\n.SH NAME\nx \\- does it\n.SH OPTIONS\n'
    body = ".TP\n.B \\-n\nA\n.I number\nof them.\n.nf\n a  b\n.fi\n"
    option = "-n\n       A number of them.\n        a  b\n"
    assert plain_text(head + body) == f"X  1  2 May 2024\n\nNAME\nx - does it\n\nOPTIONS\n\n{option}"


def test_a_text_that_changed_counts_as_missing(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = {paper.source for paper in load("open").papers if paper.source.startswith("pypi:")}
    line = next(entry for entry in entries("open") if entry["source"] in here)
    other = dict(line, source=line["source"].replace("==", "==0."))
    changed = dict(line, sha256="0" * 64)
    (tmp_path / "open.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in (line, other, changed)))
    monkeypatch.setattr("tests.evidence.papers.FOLDER", tmp_path)
    found = load("open")
    assert len(found.papers) == 1
    assert isinstance(found.papers[0], Paper)
    assert [reason.rpartition("(")[2] for reason in found.missing][1] == "another text)"
