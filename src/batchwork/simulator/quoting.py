"""A persona that quotes: its answers and the places that say them come from a file, its quotes from its character.

`quotes:CHARACTER:FILE`. The file has one line of JSON per document: `{"text": ..., "answer": ..., "places": {path:
[[start, end], ...]}}`. Asked for `{"answer": ..., "quotes": [...]}` it quotes; asked for anything else, it answers.

    exact    the words from the beginning of the line, as many lines above as make them unique, else the whole line
    short    the value alone
    sloppy   the exact words with other white space, or a paraphrase
    lying    the exact words of another field, of an equal value where there is one; and words that nobody wrote
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.simulator.dice import generator
from batchwork.simulator.errors import SimulatorConfigError
from batchwork.simulator.personas import Persona
from batchwork.simulator.prompt import Block, Prompt

CHARACTERS = ("exact", "short", "sloppy", "lying")
_MOST_LINES = 4
_REST_OF_CELL = re.compile(r"[^\n\t|]{0,20}?(?=\s{2}|[\n\t|]|$)")
_REST_OF_WORD = re.compile(r"[^\s|]*")
_SPACE = re.compile(r"\s+")
_GAPS = (" ", "  ", "\n", "\t", " \n ")


class KnownDocument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document, what a model should answer about it, and where it says so."""

    text: str
    answer: Any
    places: dict[str, list[tuple[int, int]]] = {}


class QuotingPersona(Persona):
    """Answers about the documents that it knows, with quotes of one character."""

    def __init__(self, known: Mapping[str, KnownDocument], character: str, seed: int) -> None:
        self._known = known
        self._character = character
        self._seed = seed

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        """The answer about the document, with quotes where the schema has room for them."""
        known = self._document(prompt)
        if known is None:
            return {}
        if schema.get("properties", {}).keys() != {"answer", "quotes"}:
            return known.answer
        dice = generator(self._seed, self._character, known.text)
        return {"answer": known.answer, "quotes": list(quotes_of(known, self._character, dice))}

    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        """The answer as JSON all the same."""
        known = self._document(prompt)
        return (Block(text="" if known is None else msgspec.json.encode(known.answer).decode()),)

    def _document(self, prompt: Prompt) -> KnownDocument | None:
        texts = [document.text for document in prompt.documents] + [turn.text for turn in prompt.turns]
        exact = next((self._known[text] for text in texts if text in self._known), None)
        longest = sorted(self._known, key=len, reverse=True) if exact is None else ()
        return exact or next((self._known[text] for text in longest if any(text in one for one in texts)), None)


def load_documents(path: str) -> dict[str, KnownDocument]:
    """Read the file of a quoting persona; what is wrong with it is a `SimulatorConfigError`."""
    try:
        lines = Path(path).read_bytes().splitlines()
        documents = [msgspec.json.decode(line, type=KnownDocument) for line in lines]
    except (OSError, msgspec.DecodeError) as error:
        raise SimulatorConfigError(f"quotes {path}: {error}") from error
    return {document.text: document for document in documents}


def quoting_persona(option: str, seed: int) -> QuotingPersona:
    """The persona behind `CHARACTER:FILE`."""
    character, _, path = option.partition(":")
    if character not in CHARACTERS or not path:
        raise SimulatorConfigError(f"persona quotes:CHARACTER:FILE: the character is one of {', '.join(CHARACTERS)}")
    return QuotingPersona(load_documents(path), character, seed)


def quotes_of(known: KnownDocument, character: str, dice: Random) -> Iterator[dict[str, str]]:
    """What somebody of this character quotes for the fields that the document says."""
    said = {path: spans[0] for path, spans in known.places.items() if spans}
    exact = {path: _exact(known.text, *span) for path, span in said.items()}
    for path, (start, end) in said.items():
        value = known.text[start:end]
        match character:
            case "exact":
                yield {"field": path, "quote": exact[path]}
            case "short":
                yield {"field": path, "quote": value}
            case "sloppy":
                yield {"field": path, "quote": _sloppy(path, exact[path], value, dice)}
            case _:
                others = [other for other in said if known.text[slice(*said[other])] == value and other != path]
                others = others or [other for other in said if other != path]
                if others:
                    yield {"field": path, "quote": exact[dice.choice(others)]}
                yield {"field": path, "quote": f"{_name(path)} as agreed by both of us: {value}"}


def _exact(text: str, start: int, end: int) -> str:
    rest = _REST_OF_CELL.match(text, end) or _REST_OF_WORD.match(text, end)
    end = end if rest is None else rest.end()
    low = text.rfind("\n", 0, start) + 1
    for _ in range(_MOST_LINES):
        if not low or (text.count(text[low:end].strip()) == 1 and text[low:start].strip()):
            break
        low = text.rfind("\n", 0, low - 1) + 1
    quote = text[low:end].strip()
    return quote if text.count(quote) == 1 else (text[low:end] + text[end:].partition("\n")[0]).strip()


def _sloppy(path: str, quote: str, value: str, dice: Random) -> str:
    kind = dice.randrange(4)
    if kind < 2:
        return _SPACE.sub(lambda _: dice.choice(_GAPS), quote)
    if kind == 2:
        words = quote.split()
        del words[dice.randrange(len(words))]
        return " ".join(words) or value
    return f"the {_name(path)} is {value}"


def _name(path: str) -> str:
    return path.rpartition(".")[2].replace("_", " ")
