"""Ticked and empty boxes: which of them belongs to some words of its line.

A box leads its words or follows them, all boxes of a line alike; where yes and no are offered the ticked one is chosen.
"""

import re

from batchwork.evidence.page.phrases import BOX, Hit, Phrase

_YES = ("yes", "true", "ja", "oui", "sí", "si", "sì", "sim", "tak", "ano", "da", "igen", "kyllä")
_NO = ("no", "false", "nein", "non", "nee", "nej", "nei", "não", "nao", "nie", "ne", "nu", "nem", "ei")
_OPTION = re.compile(rf"\b({'|'.join((*_YES, *_NO))})\b", re.IGNORECASE)
_REACH, _GAPS = 6, ("", " ", "  ")  # characters that a box and what stands between it and its words take
_WORDS_BEHIND = re.compile(r"\s{0,3}[^\W\d_]")
_WORDS_BEFORE = re.compile(r"[^\W\d_][ :]{0,2}$")


def box_before(text: str, start: int) -> bool | None:
    """Whether the box right before a place is ticked; None when there is none."""
    line = text.rfind("\n", 0, start) + 1
    boxes = list(BOX.finditer(text, max(line, start - _REACH), start))
    if not boxes or text[boxes[-1].end() : start] not in _GAPS:
        return None
    return boxes[-1]["on"] is not None


def empty_box_behind(text: str, start: int, end: int) -> bool:
    """Whether an empty box stands right behind a place, in a line whose boxes follow their words."""
    line, below = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    first = BOX.search(text, line, below if below >= 0 else len(text))
    return (
        first is not None and first["off"] is not None and text[end : first.start()] in _GAPS and first.start() >= end
    )


def boxed(text: str, phrase: Phrase, hits: list[Hit]) -> tuple[int, int, bool] | None:
    """A box before the words, or a ticked one among options behind them."""
    last, end = hits[-1], phrase.end
    boxes = list(BOX.finditer(text, phrase.start, end))
    if not boxes:
        return None
    options = [
        (option.start(), option.end(), option.group().lower()) for option in _OPTION.finditer(text, last.end, end)
    ]
    if options:
        for box in boxes:
            if box["on"] and box.start() > last.start:
                after = [option for option in options if option[0] >= box.end()]
                before = [option for option in options if option[1] <= box.start()]
                box_first = boxes[0].start() < options[0][0]
                chosen = (after[:1] if box_first else before[-1:]) or after or before
                if chosen:
                    low, high, word = chosen[0]
                    return low, high, word in _YES
        return None
    if _lead(text, phrase, boxes):
        return _leading(boxes, hits)
    behind = [box for box in boxes if box.start() >= last.end]
    if behind and not text[last.end : behind[0].start()].strip(" :\t|.-"):
        return behind[0].start(), behind[0].end(), bool(behind[0]["on"])
    return None


def _lead(text: str, phrase: Phrase, boxes: list[re.Match[str]]) -> bool:
    """Whether boxes stand before their words: each has some right behind it, and not each some right before."""
    if not all(_WORDS_BEHIND.match(text, box.end(), phrase.end) for box in boxes):
        return False
    return not all(_WORDS_BEFORE.search(text, phrase.start, box.start()) for box in boxes)


def _leading(boxes: list[re.Match[str]], hits: list[Hit]) -> tuple[int, int, bool] | None:
    """The box that leads the words; those before the first box may be what all of them are about."""
    own = [box for box in boxes if box.end() <= hits[-1].start]
    if not own or any(boxes[0].start() < hit.start < own[-1].start() for hit in hits):
        return None
    return own[-1].start(), hits[-1].end, bool(own[-1]["on"])
