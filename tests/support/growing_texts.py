"""Texts of any length that are made to hold up whoever reads them, and how much work a text of twice the length is."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable

Maker = Callable[[int], str]
MOST = 2.3  # times the work for twice the text
_LEAST_S = 0.015  # of computing time, below which a ratio says nothing
_REPEATS = 3


def repeated(unit: str, *, before: str = "", after: str = "") -> Maker:
    """One piece again and again."""
    return lambda size: before + (unit * (size // len(unit) + 1))[:size] + after


def numbered(pattern: str, *, before: str = "") -> Maker:
    """One pattern with another number, `{i}`, each time."""

    def make(size: int) -> str:
        pieces, length, number = [before], len(before), 0
        while length < size:
            pieces.append(pattern.format(i=number, j=number % 97))
            length += len(pieces[-1])
            number += 1
        return "".join(pieces)

    return make


def drawn(alphabet: str, seed: int = 1) -> Maker:
    """Letters by chance."""
    return lambda size: "".join(random.Random(seed).choices(alphabet, k=size))


TEXTS: dict[str, Maker] = {
    **{
        f"repeated {unit!r}": repeated(unit)
        for unit in (
            *(
                "total: ",
                "total:\n",
                "Total: 5 ",
                "total is ",
                "is not ",
                "paid not ",
                "the total of ",
                "no ",
                "yes no ",
            ),
            *("1", "1.", "1,234,", "1,234 ", "42.50 ", "42.50\n", "5% ", "$5 ", "5 € ", "USD ", "1/", "1-", "12:30 "),
            *("2024-01-05 ", "1/2/2024 ", "5 January 2024 ", "January ", "may 5 ", "one hundred ", "XIV ", "1st "),
            *("(", "()", "[", "[ ] ", "{", "}", "<", "<a ", "<!--", "</", "<total>", "</k>", '"', '"a ', '"a\n', "'a "),
            *(" ", "x  ", "\t", "x\t", "\n", "x\n", "x\n\n", "x\r\n", " \n", "\xa0", ".", ". ", ":", "a:", "a: b: "),
            *("|", "| ", "|-", "| a | 1 |\n", "|-|\n", "a;", "a,", '"a",', "a,b;c\t", "a=b ", "#", "_", "*", "**a** "),
            *("a", "a ", "A ", "A. ", "Abc ", "-", "- ", "a-", "`", "\\", "$", "@", "a.a@", "a/", "aB", "d'achat "),
            *("合計", "合計:", "e\u0301", "a\u00ad", "\u200d", "١٢٣ ", "in-\n", "²", "total¹ ", "nummer", "ﬁ", "ß"),
            *("from 5 to 10 ", "5 of 6 ", "(n = ", "5 a and ", "5 x 3 = ", "between 5 ", "<= 5 ", "5% VAT ", "a's "),
            *(
                "Paid: yes\n",
                "[x] paid\n",
                "Is it paid? ",
                "Q: Paid?\nA: yes\n",
                "total?\nyes\n",
                "(in thousands)\n5\n",
            ),
            *(
                "Customer Acme Ltd ",
                "Acme Ltd ",
                "INV-2024-1 ",
                "INV-\n2024-1 ",
                "Item 1\n2\n5.00\n",
                "2 x 5.00 = 10.00\n",
            ),
            *(
                "Total  Amount  Paid\n",
                "a  b      c  d\n1  2      3  4\n",
                "Total   5   ",
                "1 Wages  2 Tax\n5  6\n",
                "____ ",
            ),
            *(
                "description quantity 1 price 2\n",
                "1 x a-1",
                "a - 2 x 3 ",
                "series rises and falls ",
                " and ",
                "a or b, ",
            ),
        )
    },
    "lines with labels": numbered("Label {i}: value {i}\n"),
    "labels in one line": numbered("Label {i}: value {i} "),
    "many words": numbered("w{i}x "),
    "many lines": numbered("w{i}x\n"),
    "rows with bars": numbered("| w{i} | {i} | b{j} |\n"),
    "rows with tabs": numbered("w{i}\t{i}\t{j}\n"),
    "rows with gaps": numbered("Item {i}    {j}    $5.00    $10.00\n", before="Item    Quantity    Price    Total\n"),
    "rows with commas": numbered("w{i},{i},{j}\n", before="name,number,rest\n"),
    "rows with digits in their heading": numbered("a{i},b12,c\n"),
    "headings": numbered("### h{i}\n{i}\n"),
    "keys": numbered("k{i}:\n  v: {i}\n"),
    "objects": numbered('{{"k{i}": {i}, '),
    "elements": numbered("<k{i}>{i}</k{i}>"),
    "clauses": numbered("{i}. The tenant shall pay {i} EUR.\n"),
    "sentences": numbered("The w{i}x is {i}. "),
    "one element that never ends": repeated("a", before="<"),
    "one key without end": repeated(".1", before="a"),
    "one label without end": repeated("k", after=": 5"),
    "one number without end": repeated("1", before="Total: "),
    "one gap": repeated(" ", before="Total", after="5"),
    "one line of dots": repeated(".", before="Total", after="5"),
    "one quote": repeated("a,", before='"'),
    "indentation": lambda size: "".join(" " * depth + "k:\n" for depth in range(int((2 * size) ** 0.5))),
    "one wide table": lambda size: "\n".join(
        "   ".join(f"{kind}{column}" for column in range(size // 16)) for kind in ("h", "")
    ),
    "any signs": drawn("".join(map(chr, range(32, 127))) + "\n"),
    "any lines": drawn("ab1:. \n\t|-"),
    "any digits": drawn("0123456789.,- /"),
}


def growth(work: Callable[[str], object], make: Maker, largest: int) -> float:
    """How many times the work is for twice the text, where the text is long enough to tell; 1 when none is.

    What is too much is measured again: machines are busy.
    """
    for _ in range(_REPEATS):
        if (worst := _growth(work, make, largest)) <= MOST:
            break
    return worst


def _growth(work: Callable[[str], object], make: Maker, largest: int) -> float:
    """Judged by four times the text, and again with a longer one before it is called too much."""
    size, worst = 2_000, 1.0
    while 4 * size <= largest:
        below = _cpu_s(work, make(size))
        if below < _LEAST_S:
            size *= 2
            continue
        worst = (_cpu_s(work, make(4 * size)) / below) ** 0.5
        if worst <= MOST or below > 8 * _LEAST_S:
            return worst
        size *= 2
    return worst


def _cpu_s(work: Callable[[str], object], text: str) -> float:
    best = float("inf")
    gc.collect()
    gc.disable()  # its passes come when they like
    try:
        for _ in range(_REPEATS):
            started = time.process_time()
            work(text)
            best = min(best, time.process_time() - started)
            if best > 1.0:
                break
    finally:
        gc.enable()
    return best
