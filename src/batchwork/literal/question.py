"""Understand a question: what is asked for, of what kind, and between which choices."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from batchwork.literal.meaning import GENERIC, WORDS, content_words

_MORE, _LESS = "|".join(WORDS.more.split()), "|".join(WORDS.less.split())
_VERBS = "|".join(WORDS.verbs.split())
_COMPARE = re.compile(rf"\b({_MORE}|{_LESS})\b", re.IGNORECASE)
_EITHER = re.compile(
    rf"\b(?:{_MORE}|{_LESS})(?: or (?:{_MORE}|{_LESS})|, (?:{_MORE}|{_LESS})(?:, \w+)*,? or \w+)\b", re.IGNORECASE
)
_OR = re.compile(
    r"(?:^|[:,(]|\b(?:between|than|of)\b)\s*(?:[^,:()?]+,\s*)*([^,:()?]+?),?\s+or\s+([^,:()?]+?)\s*$", re.IGNORECASE
)
_LEAD = re.compile(r"^(?:the|a|an|that of|in|of|is|it)\s+", re.IGNORECASE)
_YES_NO = re.compile(r"^\W*(?:is|are|was|were|does|do|did|has|have|had|can|will|should)\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b|\bcount of\b|\bhow often\b", re.IGNORECASE)
_INLINE_OR = re.compile(r"\b([\w-]+(?:, [\w-]+)*),? or ([\w-]+)\b")
_ASKS = re.compile(
    rf"\b(?:what|which|who|whose|when|where|how|is|are|was|were|does|do|did|has|have|{_VERBS})\b", re.IGNORECASE
)
_ORDERS = re.compile(
    r"(?:^\W*|[.!:]\s+)(?:please\s+|now\s+|then\s+|you (?:must|should|will)\s+)?"
    rf"(?:{_VERBS}|answer|respond|reply|output|write|fill|parse|summari[sz]e|use)\b",
    re.IGNORECASE,
)
_QUESTION_LABEL = re.compile(
    r"^[^\S\n]*(?:question|query|q|task|instruction|asked)\s*[:.]\s*(.+)$", re.IGNORECASE | re.MULTILINE
)
_LONGEST_QUESTION = 400  # characters; what is longer is not one


class Question(NamedTuple):
    """A question taken apart."""

    words: tuple[str, ...]
    choices: tuple[str, ...] = ()
    compares: bool = False
    wants_less: bool = False
    yes_no: bool = False
    counts: bool = False


def understand(question: str) -> Question:
    """What one question asks."""
    sentence = _core(question)
    either = _EITHER.search(sentence)
    if either:  # "is it above or below the rest": these are the choices, and what follows is what they compare with
        return Question(content_words(sentence[: either.start()]), tuple(re.split(r",? or |, ", either.group())))
    compare = _COMPARE.search(sentence)
    choices = _choices(sentence, comparing=compare is not None)
    if compare is not None and len(choices) == 2:
        rest = sentence
        for choice in choices:
            rest = re.sub(rf"\b{re.escape(choice)}\b", " ", rest)
        words = tuple(word for word in content_words(_COMPARE.sub(" ", rest)) if word not in ("one", "two"))
        return Question(words, choices, compares=True, wants_less=compare.group().lower() in WORDS.less.split())
    rest = sentence
    if choices:
        rest = re.sub(rf"\b{re.escape(choices[0])}\b.*\b{re.escape(choices[-1])}\b", " ", sentence)
    rest = re.sub(r"\bper \w+", " ", rest)  # "the slope per step" is the slope
    words = tuple(word for word in content_words(rest) if word != "count" or not _HOW_MANY.search(rest))
    return Question(
        words, choices, yes_no=bool(_YES_NO.match(sentence)) and not choices, counts=bool(_HOW_MANY.search(rest))
    )


def _core(question: str) -> str:
    """The sentence that asks, without the orders around it."""
    sentences = re.split(r"(?<=[?.!])\s+|\n+", question.strip())
    asking = [sentence for sentence in sentences if "?" in sentence] or [s for s in sentences if _ASKS.search(s)]
    return (asking or sentences or [""])[0].strip()[:_LONGEST_QUESTION]


def _choices(sentence: str, *, comparing: bool) -> tuple[str, ...]:
    bare = sentence.strip().rstrip("?. ")
    match = _OR.search(bare) if comparing else None
    if match:
        return tuple(_LEAD.sub("", one) for one in match.groups())
    inline = _INLINE_OR.search(bare)
    return (*re.split(r",\s*", inline[1]), inline[2]) if inline else ()


def split_prompt(prompt: str) -> tuple[str, str]:
    """A prompt as (question, text): the asking sentences, and everything that was given."""
    marked = list(_QUESTION_LABEL.finditer(prompt))
    if marked:
        last = marked[-1]
        return last[1].strip(), prompt[: last.start()] + "\n" + prompt[last.end() :]
    lines = prompt.strip().split("\n")
    if len(lines) == 1:
        return _one_line(prompt.strip())
    asking = [number for number, line in enumerate(lines) if line.rstrip().endswith("?")]
    if not asking:  # orders stand at the beginning or at the end, outside of what they are about
        edges = [*range(min(3, len(lines))), *range(max(0, len(lines) - 3), len(lines))]
        orders = [number for number in dict.fromkeys(edges) if _ORDERS.search(lines[number])]
        if not orders:
            return prompt, prompt
        kept = [line for number, line in enumerate(lines) if number not in orders]
        return " ".join(lines[number].strip() for number in orders), "\n".join(kept)
    *before, question = re.split(r"(?<=[.!:])\s+(?=[A-Z])", lines[asking[-1]])
    rest = [*lines[: asking[-1]], *([" ".join(before)] if before else []), *lines[asking[-1] + 1 :]]
    return question, "\n".join(rest)


def _one_line(prompt: str) -> tuple[str, str]:
    sentences = re.split(r"(?<=[.?!])\s+", prompt)
    asking = [number for number, sentence in enumerate(sentences) if sentence.endswith("?")]
    if not asking or len(sentences) == 1:
        return prompt, prompt
    question = sentences.pop(asking[-1])
    return question, " ".join(sentences)


def split_question(question: str) -> list[str]:
    """The single things asked: "the invoice number and the total" are two."""
    core = _core(question).rstrip("?. ")
    parts = [part for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", core) if content_words(part)]
    several = len(parts) > 1 and all(set(content_words(part)) - GENERIC for part in parts)
    return parts if several and not understand(question).choices else [question]


def split_turns(turns: Sequence[str], documents: Sequence[str], system: str) -> tuple[str, str]:
    """A conversation as (question, text): the documents first, then what the user wrote.

    The question is in the last turn that asks one; a later turn that only finds fault with an answer is not it.
    """
    turns = turns or [system]
    asking = next((number for number in range(len(turns) - 1, 0, -1) if "?" in turns[number]), 0)
    question, rest = split_prompt(turns[asking])
    parts = [*documents, *turns[:asking], rest]
    return question, "\n\n".join(part for part in parts if part.strip()) or system
