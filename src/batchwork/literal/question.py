"""Understand a question: what is asked for, of what kind, and between which choices."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from batchwork.literal.meaning import GENERIC, content_words

_MORE = (
    "larger|higher|greater|bigger|more|highest|largest|greatest|biggest|most|longer|later|older|stronger|steeper|"
    "faster|warmer|taller|heavier|above"
)
_LESS = "smaller|lower|less|fewer|lowest|smallest|least|shorter|earlier|younger|weaker|slower|colder|below|cheaper"
_COMPARE = re.compile(rf"\b({_MORE}|{_LESS})\b", re.IGNORECASE)
_EITHER = re.compile(
    rf"\b(?:{_MORE}|{_LESS})(?: or (?:{_MORE}|{_LESS})|, (?:{_MORE}|{_LESS})(?:, \w+)*,? or \w+)\b", re.IGNORECASE
)
_LESS_WORD = re.compile(rf"^({_LESS})$", re.IGNORECASE)
_OR = re.compile(
    r"(?:^|[:,(]|\bbetween\b|\bthan\b|\bof\b)\s*([^,:()?]+?(?:,\s*[^,:()?]+?)*),?\s+(?:or|and)\s+([^,:()?]+?)\s*[?.)]*\s*$",
    re.IGNORECASE,
)
_YES_NO = re.compile(r"^\W*(?:is|are|was|were|does|do|did|has|have|had|can|will|should)\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many\b|\bnumber of\b|\bcount of\b|\bhow often\b", re.IGNORECASE)
_INLINE_OR = re.compile(r"\b([\w-]+(?:, [\w-]+)*),? or ([\w-]+)\b")
_ASKS = re.compile(
    r"\b(?:what|which|who|whose|when|where|how|is|are|was|were|does|do|did|has|have|find|give|extract|return|tell|state|report|list|name|identify|determine|read|get|provide|compare)\b",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"(?:^\W*|[.!:]\s+)(?:please\s+|now\s+|then\s+|you (?:must|should|will)\s+)?(?:find|give|extract|return|tell|state|"
    r"report|list|name|identify|determine|read|get|provide|compare|answer|respond|reply|output|write|fill|parse|summari[sz]e|use)\b",
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
        return Question(words, choices, compares=True, wants_less=bool(_LESS_WORD.match(compare.group())))
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
    if match and " or " in f" {bare} ":
        parts = [re.split(r",\s*", match[1])[-1], match[2]]
        return tuple(
            re.sub(r"^(?:the|a|an|that of|in|of|is|it)\s+", "", part.strip(), flags=re.IGNORECASE)
            for part in parts
            if part.strip()
        )
    inline = _INLINE_OR.search(bare)
    if inline:
        return (*re.split(r",\s*", inline[1]), inline[2])
    if comparing and (pair := re.search(r"\b(\w+) or (\w+)\b", bare)):
        return pair[1], pair[2]
    return ()


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
    chosen = asking[-1]
    question = lines[chosen]
    sentences = re.split(r"(?<=[.!:])\s+(?=[A-Z])", question)
    if len(sentences) > 1 and question.rstrip().endswith("?"):
        return sentences[-1], "\n".join([*lines[:chosen], " ".join(sentences[:-1]), *lines[chosen + 1 :]])
    return question, "\n".join(lines[:chosen] + lines[chosen + 1 :])


def _one_line(prompt: str) -> tuple[str, str]:
    sentences = re.split(r"(?<=[.?!])\s+", prompt)
    asking = [number for number, sentence in enumerate(sentences) if sentence.endswith("?")]
    if not asking or len(sentences) == 1:
        return prompt, prompt
    chosen = asking[-1]
    return sentences[chosen], " ".join(sentences[:chosen] + sentences[chosen + 1 :])


def split_question(question: str) -> list[str]:
    """The single things asked: "the invoice number and the total" are two."""
    core = _core(question).rstrip("?. ")
    if understand(question).choices:
        return [question]
    parts = [part for part in re.split(r",\s*(?:and\s+)?|\s+and\s+", core) if content_words(part)]
    if len(parts) < 2 or not all(set(content_words(part)) - GENERIC for part in parts):
        return [question]
    return parts


def split_turns(turns: Sequence[str], documents: Sequence[str], system: str) -> tuple[str, str]:
    """A conversation as (question, text): the documents first, then what the user wrote.

    The question is in the last turn that asks one; a later turn that only finds fault with an answer is not it.
    """
    turns = turns or [system]
    asking = next((number for number in range(len(turns) - 1, 0, -1) if "?" in turns[number]), 0)
    question, rest = split_prompt(turns[asking])
    parts = [*documents, *turns[:asking], rest]
    return question, "\n\n".join(part for part in parts if part.strip()) or system
