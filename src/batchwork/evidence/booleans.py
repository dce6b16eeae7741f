"""Yes or no: find the phrase that says it, and understand when it says the opposite.

Forms: an answer beside the question ("Gift wrap: no"), a ticked or empty box, a chosen one of two options, a sentence
with or without a negation, and words that carry their own opposite ("unpaid", "inactive", "excluded").
"""

import re
from dataclasses import dataclass

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.lexicon import NEGATIONS, words
from batchwork.evidence.words import concepts, fold, likeness

_AUXILIARY = words("is are has have was were can does do did should be been flag include enabled status yes no")
_POSITIVE = "yes|y|true|ja|oui|sí|si|enabled|included|applicable|active|on|granted|accepted|required|agreed|provided|confirmed|available|present|ok|positive|valid|allowed|permitted"
_NEGATIVE = "no|n|false|nein|non|not \\w+|disabled|excluded|inactive|off|none|denied|rejected|declined|waived|absent|unavailable|negative|never|invalid|prohibited|without|forbidden"
_ANSWER = re.compile(
    rf"[\s:=?|.\-–—]*(?P<answer>(?P<no>{_NEGATIVE})|(?P<yes>{_POSITIVE})|(?P<tick>[✓✔☑☒✗✘☐])|(?P<box>\[[ xX✓]?\]))(?![\w-])",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"[\s:=?|]*(?:n/?a|not applicable|not stated|unknown|tbd|-+|—|\?)\s*$", re.IGNORECASE)
_BOX = re.compile(r"(?P<on>\[[xX✓✔*]\]|\([xX✓]\)|[☑☒✓✔⊠●])|(?P<off>\[\s?\]|\(\s?\)|[☐□○])")
_OPTION = re.compile(r"\b(yes|no|true|false|ja|nein|oui|non)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n|\n(?=\s*(?:[-*•▪‣]|\d+[.)]|#|\||\[))")
_DOUBT = frozenset({"if", "whether", "unless", "may", "might", "should", "could", "wenn", "ob", "falls"})
_OPPOSITES: dict[str, str] = {}
for _pair in [
    "enabled disabled",
    "included excluded",
    "include exclude",
    "active inactive",
    "accepted rejected",
    "approved denied",
    "approved rejected",
    "allowed prohibited",
    "permitted prohibited",
    "allowed forbidden",
    "open closed",
    "present absent",
    "paid outstanding",
    "paid overdue",
    "active expired",
    "active terminated",
    "active suspended",
    "valid expired",
    "taxable exempt",
    "refundable final",
    "married single",
    "remote onsite",
    "employed unemployed",
    "available discontinued",
    "signed unsigned",
    "fixed variable",
    "exclusive shared",
    "successful failed",
    "passed failed",
]:
    _one, _other = _pair.split()
    _OPPOSITES[_other] = _one
_PREFIXES = ("un", "in", "non", "im", "ir", "dis")
_TO_ANSWER = re.compile(r"[^.:?\n\t]{0,40}?[:?]\s*(?:(?:A|Answer|Antwort)[:.]\s*)?|\s{2,}|\t|\s*\|\s*|\s*")
_ENOUGH = 0.6


@dataclass(frozen=True, slots=True)
class Statement:
    """A phrase that answers the field's question; `strength` says how fully it names the field."""

    start: int
    end: int
    says: bool
    strength: float


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    word: str
    like: float  # to the field's words
    opposite: bool
    denies: bool


def statements(field: Field, layout: Layout) -> list[Statement]:
    """Every phrase of the text that answers the field, strongest first."""
    wanted = [word for word in field.own if word not in _AUXILIARY and word not in NEGATIONS]
    denied = (
        sum(1 for word in re.split(r"[_\W]+|(?<=[a-z])(?=[A-Z])", field.name) if word.lower() in NEGATIONS) % 2 == 1
    )
    if not wanted:
        return []
    found: list[Statement] = []
    for start, end in _units(layout):
        statement = _read(layout, start, end, wanted)
        if statement is not None:
            says = statement.says != denied
            found.append(Statement(statement.start, statement.end, says, statement.strength))
    return sorted(found, key=lambda statement: -statement.strength)


def _units(layout: Layout) -> list[tuple[int, int]]:
    """Sentences, and lines of forms and tables, each by itself."""
    units: list[tuple[int, int]] = []
    begin: int | None = None
    prose_end = 0
    for number, line in enumerate(layout.lines):
        above = layout.lines[number - 1] if number else None
        prose = (
            line.kind == "text"
            and len(line.cells) == 1
            and line.end - line.start >= 30
            and not _BOX.search(line.cells[0].text)
        )
        goes_on = (
            prose_end and above is not None and above.end == prose_end and line.kind == "text" and len(line.cells) == 1
        )
        if begin is not None and not (goes_on and (prose or (above is not None and above.end - above.start >= 38))):
            units.extend(_sentences(layout.text, begin, prose_end))
            begin = None
        if prose or (begin is not None and line.kind == "text"):
            begin = line.start if begin is None else begin
            prose_end = line.end
        elif line.kind == "text":
            units.append((line.start, line.end))
            prose_end = 0
    if begin is not None:
        units.extend(_sentences(layout.text, begin, prose_end))
    return units


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [start]
    for gap in _SENTENCE.finditer(text, start, end):
        cuts.extend((gap.start(), gap.end()))
    cuts.append(end)
    return [(low, high) for low, high in zip(cuts[::2], cuts[1::2], strict=True) if low < high]


def _read(layout: Layout, start: int, end: int, wanted: list[str]) -> Statement | None:
    text = layout.text
    tokens = [_token(text, match, wanted) for match in _WORD.finditer(text, start, end)]
    hits = [token for token in tokens if token.like >= 0.7]
    named = {
        word for word in wanted for token in hits if any(likeness(word, other) >= 0.7 for other in _all(token.word))
    }
    strength = len(named) / len(set(wanted))
    if strength < _ENOUGH or not hits:
        return None
    hits = _closest(hits, len(named))
    first, last = hits[0], hits[-1]
    boxed = _boxed(text, start, end, first, last, tokens)
    if boxed is not None:
        return Statement(boxed[0], boxed[1], boxed[2], strength + 0.2)
    if _UNKNOWN.match(text, last.end, end):
        return None
    answer = _answer(layout, last.end, end)
    if answer is not None:
        says = answer[2] if not any(token.opposite for token in hits) else not answer[2]
        return Statement(answer[0], answer[1], says, strength + 0.2)
    if "?" in text[last.end : end]:
        return None  # a question says nothing by itself
    return _sentence(text, tokens, hits, strength)


def _sentence(text: str, tokens: list[_Token], hits: list[_Token], strength: float) -> Statement | None:
    first, last = hits[0], hits[-1]
    clause = [token for token in tokens if _same_clause(text, token, first, last)]
    if any(token.word in _DOUBT for token in clause if token.start < last.start):
        return None
    denials = [
        token for token in clause if token.denies and first.start - token.end < 60 and token.start - last.end < 40
    ]
    denials = [token for token in denials if not any(token is hit for hit in hits)]
    says = (len(denials) + sum(1 for token in hits if token.opposite)) % 2 == 0
    low = min([first.start, *(token.start for token in denials)])
    high = max([last.end, *(token.end for token in denials)])
    if len(clause) <= len(hits) and len(tokens) <= 6:
        return None  # a label or a heading that says nothing by itself
    return Statement(low, high, says, strength)


def _same_clause(text: str, token: _Token, first: _Token, last: _Token) -> bool:
    if first.start <= token.start <= last.end:
        return True
    between = text[token.end : first.start] if token.end <= first.start else text[last.end : token.start]
    return re.search(r"[.;:!?]\s|,\s*(?:and|but|or|which|while|aber|und|mais)\b|\bbut\b|\bhowever\b", between) is None


def _all(word: str) -> tuple[str, ...]:
    return (
        concepts(word)
        + concepts(_OPPOSITES.get(word, ""))
        + tuple(
            other
            for prefix in _PREFIXES
            if word.startswith(prefix) and len(word) > len(prefix) + 3
            for other in concepts(word[len(prefix) :])
        )
    )


def _token(text: str, match: re.Match[str], wanted: list[str]) -> _Token:
    word = fold(match.group())
    straight = max((likeness(want, other) for want in wanted for other in concepts(word)), default=0.0)
    opposite = False
    like = straight
    if straight < 0.7:
        reverse = max((likeness(want, other) for want in wanted for other in _all(word)), default=0.0)
        opposite, like = reverse >= 0.7, reverse
    denies = word in NEGATIONS or match.group().lower().endswith(("n't", "n’t"))
    return _Token(match.start(), match.end(), word, like, opposite, denies)


def _closest(hits: list[_Token], count: int) -> list[_Token]:
    """The shortest stretch that still names as many of the wanted words."""
    if len(hits) <= count:
        return hits
    windows = [hits[index : index + count] for index in range(len(hits) - count + 1)]
    return min(
        windows, key=lambda window: (len({token.word for token in window}) < count, window[-1].end - window[0].start)
    )


def _boxed(
    text: str, start: int, end: int, first: _Token, last: _Token, tokens: list[_Token]
) -> tuple[int, int, bool] | None:
    """A box before the words, or a ticked one among options behind them."""
    boxes = list(_BOX.finditer(text, start, end))
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
                    return low, high, word in ("yes", "true", "ja", "oui")
        return None
    before_words = [box for box in boxes if box.end() <= first.start]
    if before_words:
        box = before_words[-1]
        if not any(
            box.end() <= token.start < first.start and token.like < 0.7 and token.word not in _AUXILIARY
            for token in tokens
        ):
            return box.start(), last.end, bool(box["on"])
    behind = [box for box in boxes if box.start() >= last.end]
    if behind and not text[last.end : behind[0].start()].strip(" :\t|.-"):
        return behind[0].start(), behind[0].end(), bool(behind[0]["on"])
    return None


def cell_answer(text: str) -> bool | None:
    """What a cell says that holds nothing but an answer; None when it is none."""
    found = _ANSWER.fullmatch(text)
    if found is None:
        return None
    return _is_yes(found)


def _is_yes(found: re.Match[str]) -> bool:
    ticked = bool(found["tick"]) and found["tick"] in "✓✔☑☒"
    return bool(found["yes"]) or ticked or (bool(found["box"]) and found["box"].strip("[] ") != "")


def _answer(layout: Layout, position: int, end: int) -> tuple[int, int, bool] | None:
    """The answer word right behind the label, at the end of its cell or line."""
    text = layout.text
    # the label may go on a little ("Insurance coverage (optional): yes")
    colon = _TO_ANSWER.match(text, position, end)
    at = colon.end() if colon else position
    found = _ANSWER.match(text, at, end) if at > position or colon else None
    if found is None:
        return None
    separated = re.search(r"[:=?|\t]|\s{2,}|–|—|\s-\s", text[position : found.start("answer")]) is not None
    behind = text[found.end("answer") : end]
    ends = re.match(r"\s*(?:$|[.,;|\t)]|\s{2,}|\()", behind) is not None
    if not separated or not ends:
        return None
    return found.start("answer"), found.end("answer"), _is_yes(found)
