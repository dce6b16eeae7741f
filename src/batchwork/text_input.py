"""The texts of an embedding run on their way in: packed, and those that the journal knows found again.

Reads the texts once, in order. A text that the journal's latest packs hold is not sent again, wherever it stands now:
as long as the input is what it was, a comparison suffices; from the first difference on, texts are looked up. New texts
are packed to the provider's limits. A pack that was refused for what may be one text's fault falls into parts: packs of
their own, which come before anything else is read.
"""

from array import array
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from batchwork.core.intake import Intake
from batchwork.core.outcome import AnyOutcome, Failed, Status
from batchwork.core.ports import Journal
from batchwork.core.request import Request
from batchwork.core.text_pack import (
    PackLimits,
    PackLoad,
    is_of_a_text,
    pack_request,
    parts_of,
    problem_with,
    text_number,
    texts_of,
    tokens_in,
)
from batchwork.engine.read_ahead import LATER, Later

_SLOTS = 16  # bits for the place of a text in its pack
_WHERE = 48  # bits for the pack and that place
_BAD = -1  # the pack of a text that cannot be sent


@dataclass(slots=True)
class _Known:
    """A pack of the journal's latest input: an item, or the part of one that was refused."""

    item: int
    start: int = 0
    stop: int | None = None
    is_settled: bool = False
    pack: int | None = None  # its number in this pass, once it is in use


class TextPlaces:
    """Where every text of the input is: in which pack, at which place. Runs of neighbours take one entry."""

    def __init__(self) -> None:
        self.count = 0
        self._packs, self._slots, self._lengths = array("q"), array("q"), array("q")
        self.problems: dict[int, str] = {}  # of texts that cannot be sent
        self._indexes: list[int] = []  # of the packs, in the journal
        self._parts: dict[int, tuple[int, int]] = {}  # of a refused pack: its first part, and the size of each

    def new_pack(self) -> int:
        """The number of another pack."""
        self._indexes.append(-1)
        return len(self._indexes) - 1

    def placed(self, pack: int, index: int) -> None:
        """A pack stands at this index of the journal."""
        self._indexes[pack] = index

    def split(self, pack: int, texts: Sequence[str]) -> list[tuple[int, Sequence[str]]]:
        """A pack falls into parts: their numbers and texts."""
        parts = [(self.new_pack(), part) for part in parts_of(texts)]
        self._parts[pack] = (parts[0][0], len(parts[0][1]))
        return parts

    def add(self, pack: int, slot: int) -> None:
        """The next text is there."""
        self.count += 1
        if self._packs and self._packs[-1] == pack and self._slots[-1] + self._lengths[-1] == slot:
            self._lengths[-1] += 1
            return
        self._packs.append(pack)
        self._slots.append(slot)
        self._lengths.append(1)

    def add_bad(self, problem: str) -> None:
        """The next text cannot be sent."""
        self.problems[self.count] = problem
        self.add(_BAD, self.count)

    def __iter__(self) -> Iterator[tuple[int | None, int, int]]:
        """Runs of neighbours in input order: the index of their pack (None: there is none), the place in it, how many.

        Texts whose pack fell into parts are in those.
        """
        for pack, slot, length in zip(self._packs, self._slots, self._lengths, strict=True):
            yield from ((None, slot, length),) if pack == _BAD else self._leaves(pack, slot, length)

    def _leaves(self, pack: int, slot: int, length: int) -> Iterator[tuple[int | None, int, int]]:
        if pack not in self._parts:
            index = self._indexes[pack]
            yield (None if index < 0 else index), slot, length
            return
        first, size = self._parts[pack]
        while length:
            part, within = divmod(slot, size)
            taken = min(length, size - within)
            yield from self._leaves(first + part, within, taken)
            slot, length = slot + taken, length - taken


class TextInput:
    """The rows of an embedding run: an iterator over packs, which yields `LATER` while others may fall into parts."""

    def __init__(
        self,
        texts: Iterator[Any],
        *,
        model: str,
        options: Mapping[str, Any] | None,
        limits: PackLimits,
        journal: Journal,
        waits: bool,
    ) -> None:
        """`texts` may yield `LATER`. With `waits` the parts of a refused pack are rows of the same pass."""
        self.places = TextPlaces()
        self._texts = texts
        self._request = partial(pack_request, model=model, options=options)
        self._limits = limits
        self._journal = journal
        self._waits = waits
        self._load = PackLoad(limits)
        self._open: int | None = None  # the number of the pack that is being filled
        self._under_way: dict[int, tuple[int, Sequence[str]]] = {}  # packs that may fall into parts, by index
        self._unplaced: deque[tuple[int, bytes]] = deque()  # those of them that the journal may know, by fingerprint
        # Packs to be placed next, the last first: number, texts, and whether it may still be refused.
        self._rows: list[tuple[int, Sequence[str], bool]] = []
        self._yielded = 0
        self._ended = False
        self._known = _known_packs(journal, self._request)
        self._cursor, self._slot = 0, 0
        self._expected: Sequence[str] = self._texts_at(0)
        self._numbers: list[int] | None = None  # where known texts are, once they are looked up

    def __iter__(self) -> "TextInput":
        return self

    def __next__(self) -> Intake | Literal[Later.LATER]:
        self._look_at_placed()
        while not self._rows:
            if self._ended:
                if self._waits and self._under_way:
                    return LATER
                raise StopIteration
            if self._read() is LATER:
                return LATER
        pack, texts, may_split = self._rows.pop()
        self.places.placed(pack, self._yielded)
        request = self._request(texts)
        if may_split and self._waits and len(texts) > 1:
            self._under_way[self._yielded] = (pack, texts)
            self._unplaced.append((self._yielded, request.fingerprint))
        self._yielded += 1
        return Intake(fingerprint=request.fingerprint, request=request, columns=None)

    def settled(self, outcome: AnyOutcome) -> None:
        """A pack has its outcome; one that was refused falls into parts, which come before anything else."""
        pack, texts = self._under_way.pop(outcome.index, (_BAD, ()))
        if texts and isinstance(outcome, Failed) and is_of_a_text(outcome.failure):
            self._rows += [(*part, True) for part in reversed(self.places.split(pack, texts))]

    def _look_at_placed(self) -> None:
        """A pack that an earlier input had, and the latest one had not, is settled as soon as it has its place."""
        while self._unplaced:
            index, fingerprint = self._unplaced[0]
            state = self._journal.at(index)
            if state is None or state.fingerprint != fingerprint:
                return
            self._unplaced.popleft()
            if state.status not in (Status.PENDING, Status.DEFERRED):
                outcome = next(iter(self._journal.entries(index, index + 1))).outcome
                if outcome is not None:
                    self.settled(outcome)

    # -- reading --------------------------------------------------------------------------------

    def _read(self) -> Literal[Later.LATER] | None:
        """Read texts until there is a row."""
        for text in self._texts:
            if text is LATER:
                return Later.LATER
            if (problem := problem_with(text)) is not None:
                self.places.add_bad(problem)
                continue
            if self._numbers is None and self._is_as_before(text):
                pass
            elif (found := self._find(text)) is not None:
                self._use(found[0], found[1])
            else:
                self._pack(text)
            if self._rows:
                return None
        self._ended = True
        self._close()
        return None

    def _is_as_before(self, text: str) -> bool:
        """Whether the text is the one that stood here in the latest input; else all are looked up from now on."""
        if self._slot < len(self._expected) and self._expected[self._slot] == text:
            self._use(self._cursor, self._slot)
            self._slot += 1
            if self._slot == len(self._expected):
                self._cursor, self._slot = self._cursor + 1, 0
                self._expected = self._texts_at(self._cursor)
            return True
        self._switch()
        return False

    def _switch(self) -> None:
        self._numbers = sorted(
            text_number(text) << _WHERE | number << _SLOTS | slot
            for number in range(len(self._known))
            for slot, text in enumerate(self._texts_at(number))
        )
        self._expected = ()

    def _find(self, text: str) -> tuple[int, int] | None:
        """The known pack and the place of a text; None for a new one."""
        if not self._numbers:
            return None
        number = text_number(text)
        at = bisect_left(self._numbers, number << _WHERE)
        if at == len(self._numbers) or self._numbers[at] >> _WHERE != number:
            return None
        where = self._numbers[at] & ((1 << _WHERE) - 1)
        return where >> _SLOTS, where & ((1 << _SLOTS) - 1)

    def _use(self, number: int, slot: int) -> None:
        """The next text is in a known pack; one that is met for the first time is a row."""
        known = self._known[number]
        if known.pack is None:
            texts = self._expected if number == self._cursor and self._expected else self._texts_at(number)
            known.pack = self.places.new_pack()
            self._rows.append((known.pack, texts, not known.is_settled))
        self.places.add(known.pack, slot)

    def _pack(self, text: str) -> None:
        """Put a new text into the open pack; one that is full becomes a row."""
        tokens = tokens_in(text)
        if not self._load.takes(tokens):
            self._close()
        if self._open is None:
            self._open = self.places.new_pack()
        self.places.add(self._open, len(self._load.texts))
        self._load.add(text, tokens)

    def _close(self) -> None:
        if self._open is not None:
            self._rows.append((self._open, self._load.texts, True))
            self._open, self._load = None, PackLoad(self._limits)

    def _texts_at(self, number: int) -> Sequence[str]:
        if number >= len(self._known):
            return ()
        known = self._known[number]
        return texts_of(self._journal.request_of(known.item))[known.start : known.stop]


def _known_packs(journal: Journal, request_for: Callable[[Sequence[str]], Request]) -> list[_Known]:
    """The packs of the latest input, in its order; those that were refused as their parts, known or not."""
    states = [state for index in range(journal.count()) if (state := journal.at(index)) is not None]
    refused = {
        state.fingerprint for state in states if state.status is Status.FAILED and _is_refused(journal, state.index)
    }
    settled = {state.fingerprint for state in states if state.status not in (Status.PENDING, Status.DEFERRED)}
    parts: Counter[bytes] = Counter()  # of refused packs: those stand somewhere behind as well, if they were made
    known: list[_Known] = []

    def add(one: _Known, fingerprint: bytes, texts: Sequence[str] | None) -> None:
        if fingerprint not in refused or (texts is not None and len(texts) < 2):
            known.append(one)
            return
        texts = texts_of(journal.request_of(one.item)) if texts is None else texts
        if len(texts) < 2:
            known.append(one)
            return
        start = one.start
        for part in parts_of(texts):
            own = request_for(part).fingerprint
            parts[own] += 1
            add(_Known(one.item, start, start + len(part), own in settled), own, part)
            start += len(part)

    for state in states:
        if parts[state.fingerprint]:
            parts[state.fingerprint] -= 1
        else:
            add(_Known(state.item, is_settled=state.fingerprint in settled), state.fingerprint, None)
    return known


def _is_refused(journal: Journal, index: int | None) -> bool:
    if index is None:
        return False
    outcome = next(iter(journal.entries(index, index + 1))).outcome
    return isinstance(outcome, Failed) and is_of_a_text(outcome.failure)
