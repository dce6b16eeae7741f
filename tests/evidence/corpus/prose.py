"""What these layouts share: ways to write money, prose wrapped or quoted, claims that are wrong by the dice."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.evidence.corpus import pools
from tests.evidence.corpus.draft import Draft, PdfDraft
from tests.evidence.corpus.pools import us
from tests.evidence.corpus.seen import wrap

Made = tuple[Any, dict[str, list[tuple[int, int]]]]
CASH_STYLES: list[Callable[[Decimal], str]] = [
    lambda amount: f"£{us(amount)}",
    lambda amount: f"${us(amount, 0 if amount == int(amount) else 2)}",
    lambda amount: f"EUR {us(amount)}",
    lambda amount: f"{pools.eu(amount)} €",
    lambda amount: f"CHF {us(amount, 0 if amount == int(amount) else 2)}",
]


def whole(source: str, width: int = 78) -> str:
    """Wrapped prose whose marked values stay on one line."""
    glued = re.sub(r"⟦[^⟧]*⟧", lambda mark: mark[0].replace(" ", "\x1f"), source)
    return wrap(glued, width).replace("\x1f", " ")


def quoted(text: str, sign: str) -> str:
    return "\n".join((sign + " " + line).rstrip() for line in text.split("\n"))


@dataclass(slots=True, kw_only=True)
class Claims:
    """Says a field as the document does or, by the dice, as the document contradicts it."""

    draft: Draft
    dice: random.Random
    share: float = 0.35  # of the fields that have a wrong value at hand

    def __call__(self, path: str, value: Any, key: str, wrong: Any, foul: str, *, traps: str, **more: bool) -> None:
        if wrong != value and self.dice.random() < self.share:
            self.draft.empty(path, wrong, f"{foul} contradicted")
        else:
            self.draft.says(path, value, key, traps=traps, **more)


def written(pdf: PdfDraft, y: float, paragraph: str, width: int = 84) -> float:
    """Draw wrapped prose and say where the next line begins; a value may break over two lines."""
    broken = re.sub(r"⟦([^|⟧]*)\|([^⟧\n]*)\n([^⟧]*)⟧", r"⟦\1~1|\2⟧\n⟦\1~2|\3⟧", wrap(paragraph, width))
    for line in broken.split("\n"):
        pdf.text(60, y, line)
        y += 14
    return y


def words_of(source: str, key: str) -> str:
    """The words under the first mark of that key."""
    found = re.search(rf"⟦{key}\|([^⟧]*)⟧", source)
    assert found
    return found[1]
