"""Prints the matrix of misbehaviours at the end of a session that ran enough of it.

Each cell reports itself as a property of its test, `(number, row, wire, mode, mark)`, which also reaches the process
that collects the reports of several workers.
"""

from __future__ import annotations

from typing import Any

PROPERTY = "misbehaviour"
WIRES, MODES = ("anthropic", "openai", "gemini", "mistral", "bedrock"), ("live", "batch", "attach")
_ENOUGH = 50
_MEANING = (
    "In every cell: each input has one outcome, nothing is paid for twice.",
    "==: booked what was billed. >=: at least that, an answer could not be read. refused: before anything was sent.",
    "paused: the run ends with what to do, and the next one goes on.",
    "answered: at least what was answered; a live call that ends with this status is not billed, says every provider.",
)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table, its cells that failed marked."""
    marks: dict[tuple[str, str, str], str] = {}
    order: dict[str, int] = {}
    for word in ("passed", "failed"):
        for report in terminalreporter.stats.get(word, ()):
            for name, value in getattr(report, "user_properties", ()):
                if name == PROPERTY and report.when == "call":
                    order[value[1]], row, wire, mode, mark = value
                    marks[row, wire, mode] = "FAILED" if word == "failed" else mark
    if len(marks) < _ENOUGH:
        return
    terminalreporter.section("what the provider does, and what became of it")
    for line in table(marks, sorted(order, key=lambda row: order[row])):
        terminalreporter.write_line(line)


def table(marks: dict[tuple[str, str, str], str], rows: list[str]) -> list[str]:
    """The matrix as lines, and below them what its words mean."""
    reasons: dict[str, int] = {}

    def cell(row: str, wire: str, mode: str) -> str:
        mark = marks.get((row, wire, mode), "-")
        if mark.startswith("n/a "):
            return f"n/a {reasons.setdefault(mark[4:], len(reasons) + 1)}"
        return mark

    width = max(map(len, rows))
    columns = [(wire, mode) for wire in WIRES for mode in MODES]
    lines = [" ".join([" " * width, *(f"{wire:<9}" for wire, _ in columns)])]
    lines.append(" ".join(["the provider ...".ljust(width), *(f"{mode:<9}" for _, mode in columns)]))
    lines += [" ".join([row.ljust(width), *(f"{cell(row, *at):<9}" for at in columns)]) for row in rows]
    lines += _MEANING
    lines += [f"n/a {number}: {reason}" for reason, number in reasons.items()]
    return lines
