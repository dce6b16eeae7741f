"""The tables of docs/security.md: the limits, as the code has them, and the attacks, from the marks of their tests.

    python -m tests.hostile.table           runs every attack, full-size ones included, and prints how each ended
    python -m tests.hostile.table --write   writes both tables into docs/security.md; runs nothing

A row is what stands in `@pytest.mark.attack(part, what, outcome)`: texts, or names of texts at the top of the file.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console
from rich.table import Table

from tests.hostile.limits import rows

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "security.md"


class Row(NamedTuple):
    part: str
    what: str
    outcome: str

    @classmethod
    def of(cls, part: str, what: str, outcome: str) -> Row:
        return cls(part[:1].upper() + part[1:], what, outcome)


def marked() -> dict[Row, str]:
    """Every attack, by part and then as the files have them, and the test that proves it."""
    found: dict[Row, str] = {}
    for path in sorted(HERE.glob("test_*.py")):
        module = ast.parse(path.read_text())
        constants = dict(_constants(module))
        for function in ast.walk(module):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for call in _attacks_on(function):
                    words = [_word(argument, constants, f"{path.name}::{function.name}") for argument in call.args]
                    found.setdefault(Row.of(*words), f"{path.name}::{function.name}")
    parts = list(dict.fromkeys(row.part for row in found))
    return dict(sorted(found.items(), key=lambda item: parts.index(item[0].part)))


def _attacks_on(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[ast.Call]:
    for decorator in function.decorator_list:
        for call in ast.walk(decorator):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "attack":
                yield call


def _constants(module: ast.Module) -> Iterator[tuple[str, str]]:
    for statement in module.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            yield from (
                (name.id, str(statement.value.value)) for name in statement.targets if isinstance(name, ast.Name)
            )


def _word(argument: ast.expr, constants: dict[str, str], where: str) -> str:
    if isinstance(argument, ast.Name) and argument.id in constants:
        return constants[argument.id]
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    raise ValueError(f"{where}: an attack is told in three texts, or names of texts at the top of the file")


def document() -> str:
    """The document with the tables as they are now."""
    proofs = [(*row, f"`{test}`") for row, test in marked().items()]
    text = _filled(DOCUMENT.read_text(), "limits", ("what", "limit", "default"), rows())
    return _filled(text, "attacks", ("part", "what is done", "what happens", "test"), proofs)


def _filled(text: str, name: str, head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> str:
    """The text with a new table between the comments of this name."""
    before, _, rest = text.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->")
    lines = [" | ".join(cell.replace("|", "&#124;") for cell in row) for row in (head, *body)]
    lines.insert(1, "|".join("---" for _ in head))
    return f"{before}<!-- {name} -->\n{''.join(f'| {line} |{chr(10)}' for line in lines)}{end}{after}"


def missing_tests() -> list[str]:
    """The tests that the document names and that are not there."""
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", DOCUMENT.read_text())
    folders = (HERE, HERE.parent)
    return [
        f"{file}::{name}"
        for file, name in named
        if not any((folder / file).exists() and f"def {name}(" in (folder / file).read_text() for folder in folders)
    ]


class _Endings:
    """How the tests ended, by the rows that they prove."""

    def __init__(self) -> None:
        self.failed: dict[Row, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed and (report.when != "call" or report.skipped):
            return
        for name, value in report.user_properties:
            if name == "attack":
                row = Row.of(*value)  # type: ignore[misc]
                self.failed[row] = self.failed.get(row, False) or report.failed


def main() -> int:
    """Run, or write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the tables into docs/security.md and run nothing")
    if parser.parse_args().write:
        DOCUMENT.write_text(document())
        return 0
    endings = _Endings()
    code = pytest.main([str(HERE), "-n", "auto", "-m", "attack and not real"], plugins=[endings])
    table = Table("part", "what is done", "what happens", "")
    for row in marked():
        ending = {True: "FAILED", False: "ok", None: "not run"}[endings.failed.get(row)]
        table.add_row(*row, ending)
    Console(width=160 if not sys.stdout.isatty() else None).print(table)
    good = sum(not failed for failed in endings.failed.values())
    print(f"{good} of {len(marked())} attacks end as they must")
    return int(code) or int(good != len(marked()))


if __name__ == "__main__":
    sys.exit(main())
