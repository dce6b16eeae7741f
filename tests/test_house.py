"""The house as the documents describe it: links lead somewhere, files are short, a test is found by the code's path."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "batchwork"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
_LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
_MOST_LINES = 400
# Suites about a subject that no single module holds; the others are named after a module.
_BY_SUBJECT = {"benchmarks", "contracts", "data", "evidence", "frame", "hostile", "perf", "scale", "support", "torture"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    broken = [link for link in _LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not broken


def test_no_module_is_longer_than_a_person_reads_at_once() -> None:
    files = [*SOURCES.rglob("*.py"), *(ROOT / "tests").rglob("test_*.py")]
    long = {path.relative_to(ROOT).as_posix(): lines for path in files if (lines := _lines(path)) > _MOST_LINES}
    del long["tests/evidence/test_by_hand.py"]  # labelled by hand, one case after the other: a table, not a program
    assert not long


def _lines(path: Path) -> int:
    return path.read_text().count("\n")


def test_every_module_begins_by_saying_what_it_is() -> None:
    silent = [
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if not path.read_text().startswith(('"""', 'r"""'))
    ]
    assert not silent


def test_the_test_of_a_module_is_found_by_its_path() -> None:
    """Most modules have a namesake among the tests; a test without one says in its first line what it is about."""
    strays = []
    for test in (ROOT / "tests").rglob("test_*.py"):
        place = test.parent.relative_to(ROOT / "tests")
        if place.parts[:1] and place.parts[0] in _BY_SUBJECT:
            continue
        name = test.stem.removeprefix("test_")
        names = {path.stem.lstrip("_") for path in (SOURCES / place).glob("*") if path.suffix == ".py" or path.is_dir()}
        if name not in names | {place.name} and not test.read_text().startswith('"""'):
            strays.append(test.relative_to(ROOT).as_posix())
    assert not strays


def test_every_dependency_states_its_lowest_version_and_the_pinned_one_is_allowed() -> None:
    """`make test-lowest` runs the suite at these."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    wanted = [requirement for requirement in map(Requirement, texts) if requirement.name != project["name"]]
    assert not [str(one) for one in wanted if not re.fullmatch(r">=[\d.]+", str(one.specifier))]
    lines = (ROOT / "constraints.txt").read_text().split()
    pinned = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    assert not [str(one) for one in wanted if one.name in pinned and pinned[one.name] not in one.specifier]
