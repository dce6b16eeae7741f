"""The table of what a provider may do wrong, and what must become of a run then: one row per misbehaviour.

A cell is what is done to a run of six items in one mode; what must hold in every cell stands in
`tests/support/misbehaving.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

ITEMS, PER_BATCH = 6, 3
LOST = "result_lost"
EQUAL, COVERS, ANSWERED = "==", ">=", "answered"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Later:
    """A second run on the same journal."""

    heal: bool = False  # the provider's faults are over
    retry_failed: bool = False
    failed: int = 0
    sent_again: int = 0  # how many items are sent once more
    booked: str = COVERS
    asks_again: bool = False  # the old results are downloaded (or tried to be) once more


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What is done to a run, and what must become of it."""

    rates: str = ""  # faults all the time
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # faults of the first calls of a scope
    provider: Mapping[str, Any] = field(default_factory=dict)  # how the simulator is set up
    options: Mapping[str, Any] = field(default_factory=dict)  # what the run is told
    prompt: str = "Question {}: what is the capital?"
    cached: bool = False  # the prompt is marked to be written to the cache for an hour
    failed: int | None = 0  # how many items fail; None: it is left to the policy
    kinds: frozenset[str] = frozenset()  # with which kinds of failure; empty: any
    booked: str = EQUAL
    sent_once: bool = False  # no item is sent twice, whatever became of its answer
    searched: bool | None = None  # whether the provider's list of batches is looked at
    paused: bool = False  # the run ends with RunPaused
    refusable: bool = False  # the run may be refused before anything is sent
    stranger: bool = False  # somebody else's batch of the same size is at the provider
    later: Later | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One misbehaviour; a cell that is a text cannot occur, and the text says why."""

    name: str
    live: Cell | str
    batch: Cell | str
    attach: Cell | str
    wires: tuple[str, ...] = ("anthropic", "openai", "gemini", "mistral", "bedrock")
    other_wire: str = ""  # why it cannot occur on the wires that are not named

    def cell(self, wire: str, mode: str) -> Cell | str:
        """The cell of a wire and a mode."""
        if wire not in self.wires:
            return self.other_wire
        cell: Cell | str = getattr(self, mode)
        return "no batches are spoken there" if wire == "bedrock" and mode != "live" else cell


_NO_CREATE = "attach creates nothing"
_NO_SEARCH = "attach knows the batch by its id: nothing is searched"
_NO_BATCH = "a live call has no batch"
_NO_LINE = "a live answer is no line of a file"
_NO_LANE = "a batch has one price, whatever the lane"
_NOT_SENT = "attach sends nothing"
_COUNTS_ALONE = "attach has no word but the counts on how many of the inputs a batch holds"
_NO_SECOND = "attach has no journal for a second run"


def _first(scope: str, *kinds: str, **more: Any) -> Cell:
    return Cell(first={scope: kinds}, **more)


# What is done although the answer says otherwise. A live call whose answer was cut off, never came, or timed out may be
# billed; an answer that says by its status that the call was refused is not billed, in every provider's own words.
_UNHEARD = ("reset_after", "hang_after", "unreadable_after", "truncated", "408_after", "504_after")
_TOLD_FREE = ("500_after", "503_after", "529_after", "409_after")
_HANGS = {"timeout": 40.0}


def _created_all_the_same(kind: str) -> Row:
    return Row(
        name=f"creates the batch, or answers the call, but: {kind}",
        live=_first("live", kind, booked=ANSWERED if kind in _TOLD_FREE else COVERS, options=_HANGS),
        batch=_first("create", kind, searched=True, sent_once=True, options=_HANGS),
        attach=_NO_CREATE,
    )


def _nothing_created(kind: str) -> Row:
    return Row(
        name=f"creates nothing and says {kind}",
        live=_first("live", kind, booked=COVERS),
        batch=_first("create", kind, searched=True, sent_once=True),
        attach=_NO_CREATE,
    )


def _refused(kind: str, batch: Cell, live: Cell) -> Row:
    return Row(name=f"refuses with {kind}", live=live, batch=replace(batch, searched=False), attach=_NO_CREATE)


_REJECTED = Cell(failed=ITEMS, kinds=frozenset({"rejected"}), sent_once=True)
_STOPPED = Cell(paused=True, failed=None, later=Later(heal=True, sent_again=ITEMS, booked=EQUAL))


def _one_damaged(
    kind: str, *, failed: int | None = 0, booked: str = COVERS, kinds: frozenset[str] = frozenset()
) -> Row:
    return Row(
        name=f"answers one request with {kind}",
        live=_first("live", kind, failed=failed, kinds=kinds, booked=booked),
        batch=_first("item", kind, failed=failed, kinds=kinds, booked=booked),
        attach=_first("item", kind, failed=failed, kinds=kinds, booked=booked),
    )


def _one_line_lost(kind: str) -> Row:
    again = Later(retry_failed=True, sent_again=1, asks_again=True)
    lost: dict[str, Any] = {"failed": 1, "kinds": frozenset({LOST}), "booked": COVERS, "sent_once": True}
    return Row(
        name=f"one result line for good: {kind}",
        live=_NO_LINE,
        batch=_first("item", kind, later=again, **lost),
        attach=_first("item", kind, **lost),
    )


def _passing(scope: str, *kinds: str, name: str | None = None) -> Row:
    """Something that goes by: both followers of batches survive it, and nothing is booked for it."""
    told = " then ".join(kinds)
    cell = Cell(first={scope: kinds}, sent_once=True, options=_HANGS if "hang_after" in kinds else {})
    return Row(name=name or f"{scope}: {told}, once", live=_NO_BATCH, batch=cell, attach=cell)


_ALL_LOST: dict[str, Any] = {"failed": ITEMS, "kinds": frozenset({LOST}), "booked": COVERS, "sent_once": True}
_LONG = "word " * 1200 + "Question {}: what is the capital?"


def _lane(name: str, wire: str, provider: Mapping[str, Any] | None = None, **body: Any) -> Row:
    cell = Cell(
        options={"extra_body": body} if body else {"max_cost": None}, provider=provider or {}, refusable=bool(body)
    )
    owner = {"anthropic": "Anthropic's", "openai": "OpenAI's", "gemini": "Gemini's"}[wire]
    return Row(
        name=name, live=cell, batch=_NO_LANE, attach=_NOT_SENT, wires=(wire,), other_wire=f"a lane of {owner} alone"
    )


ROWS: tuple[Row, ...] = (
    *map(_created_all_the_same, (*_UNHEARD, *_TOLD_FREE)),
    Row(
        name="huge headers on every answer",
        live=Cell(rates="live:huge_headers=1", failed=None, booked=COVERS, sent_once=True),
        batch=_first("create", "huge_headers", sent_once=True),
        attach=_first("results", "huge_headers", sent_once=True),
    ),
    *map(_nothing_created, ("500", "503", "504", "529", "408", "409", "reset")),
    Row(
        name="creates nothing, and a stranger's batch is as large",
        live=_NO_BATCH,
        batch=_first("create", "529", stranger=True, sent_once=True),
        attach=_NO_CREATE,
    ),
    Row(
        name="creates the batch beside a stranger's as large: 503_after",
        live=_NO_BATCH,
        batch=_first("create", "503_after", stranger=True, sent_once=True),
        attach=_NO_CREATE,
    ),
    Row(
        name="creates both batches of equal size: 529_after",
        live=_NO_BATCH,
        batch=_first("create", "529_after", "529_after", searched=True, sent_once=True),
        attach=_NO_CREATE,
    ),
    Row(
        name="503_after, and its list fails: 500, reset, a web page",
        live=_NO_BATCH,
        batch=Cell(first={"create": ("503_after",), "list": ("500", "reset", "unreadable_after")}, sent_once=True),
        attach=_NO_SEARCH,
    ),
    Row(
        name="503_after, and its list comes late",
        live=_NO_BATCH,
        batch=Cell(first={"create": ("503_after",)}, provider={"list_lag_s": 0.3}, sent_once=True),
        attach=_NO_SEARCH,
    ),
    *(
        Row(
            name=f"its clock is {offset:+} s off: {kind}",
            live=_NO_BATCH,
            batch=Cell(first={"create": (kind,)}, provider={"clock_offset_s": float(offset)}, sent_once=True),
            attach=Cell(provider={"clock_offset_s": float(offset)}),
        )
        for offset in (-1500, 1500)
        for kind in ("reset_after", "503_after")
    ),
    _refused("400", replace(_REJECTED, rates="create:400=1"), replace(_REJECTED, rates="live:400=1")),
    _refused("422", replace(_REJECTED, rates="create:422=1"), replace(_REJECTED, rates="live:422=1")),
    _refused("401", replace(_STOPPED, rates="create:401=1"), replace(_STOPPED, rates="live:401=1")),
    _refused("403", replace(_STOPPED, rates="create:403=1"), replace(_STOPPED, rates="live:403=1")),
    _refused("quota", replace(_STOPPED, rates="create:quota=1"), replace(_STOPPED, rates="live:quota=1")),
    Row(
        name="refuses with 413",
        live=_first("live", "413", failed=1, kinds=frozenset({"too_long"})),
        batch=_first("create", "413", searched=False),
        attach=_NO_CREATE,
        wires=("anthropic",),
        other_wire="the limit is the upload's there",
    ),
    Row(
        name="refuses the upload with 413",
        live=_NO_BATCH,
        batch=_first("files", "413", searched=False),
        attach=_NO_CREATE,
        wires=("openai", "gemini", "mistral"),
        other_wire="Anthropic has no upload",
    ),
    _refused("429", _first("create", "429"), _first("live", "429")),
    Row(
        name="the upload fails: 500_after, reset_after, a web page",
        live=_NO_BATCH,
        batch=Cell(first={"files": ("500_after", "reset_after", "unreadable_after")}, sent_once=True),
        attach=_NO_CREATE,
        wires=("openai", "gemini", "mistral"),
        other_wire="Anthropic has no upload",
    ),
    _one_damaged("null", failed=None),
    _one_damaged("no_usage"),
    _one_damaged("zero_usage"),
    _one_damaged("refusal", failed=1, kinds=frozenset({"refused"}), booked=EQUAL),
    Row(
        name="answers one request with malformed JSON",
        live=_first("live", "malformed", options={"schema": SCHEMA}),
        batch=_first("item", "malformed", options={"schema": SCHEMA}),
        attach=_first("item", "malformed", options={"schema": SCHEMA}, failed=1, kinds=frozenset({"schema_violation"})),
    ),
    *map(_one_line_lost, ("missing", "not_json")),
    Row(
        name="one line lost, and the counts are low",
        live=_NO_LINE,
        batch=Cell(
            rates="poll:low_counts=1",
            first={"item": ("missing",)},
            failed=1,
            kinds=frozenset({LOST}),
            booked=COVERS,
            sent_once=True,
        ),
        attach=_COUNTS_ALONE,
    ),
    Row(
        name="one result line stands there twice",
        live=_NO_LINE,
        batch=_first("item", "duplicated", sent_once=True),
        attach=_first("item", "duplicated"),
    ),
    *(
        Row(
            name=f"one request never ran: {kind}",
            live=_NO_LINE,
            batch=_first("item", kind),
            attach=_first("item", kind, failed=1),
        )
        for kind in ("expired", "canceled")
    ),
    Row(
        name="one request of a batch failed: 500",
        live=_NO_LINE,
        batch=_first("item", "500"),
        attach=_first("item", "500", failed=1, kinds=frozenset({"server"})),
    ),
    Row(
        name="the results of one batch are gone for good",
        live=_NO_BATCH,
        batch=_first(
            "results",
            "gone",
            failed=PER_BATCH,
            kinds=frozenset({LOST}),
            booked=COVERS,
            sent_once=True,
            later=Later(retry_failed=True, sent_again=PER_BATCH, asks_again=True),
        ),
        attach=_first("results", "gone", **_ALL_LOST),
    ),
    Row(
        name="no results for a while (404), then they are there",
        live=_NO_BATCH,
        batch=Cell(
            rates="results:404=1", later=Later(heal=True, retry_failed=True, sent_again=0, asks_again=True), **_ALL_LOST
        ),
        attach=_NO_SECOND,
    ),
    Row(
        name="every download is cut",
        live=_NO_BATCH,
        batch=Cell(rates="results:truncated=1", failed=None, kinds=frozenset({LOST}), booked=COVERS, sent_once=True),
        attach=Cell(rates="results:truncated=1", failed=None, kinds=frozenset({LOST}), booked=COVERS),
    ),
    Row(
        name="every download is short",
        live=_NO_BATCH,
        batch=Cell(rates="results:short=1", failed=2, kinds=frozenset({LOST}), booked=COVERS, sent_once=True),
        attach=Cell(rates="results:short=1", failed=2, kinds=frozenset({LOST}), booked=COVERS),
    ),
    Row(
        name="every download fails: 500",
        live=_NO_BATCH,
        batch=Cell(
            rates="results:500=1", later=Later(heal=True, retry_failed=True, sent_again=0, asks_again=True), **_ALL_LOST
        ),
        attach=Cell(rates="results:500=1", **_ALL_LOST),
    ),
    *(
        _passing("results", kind)
        for kind in (
            "short",
            "truncated",
            "reset",
            "404",
            "408",
            "429",
            "500",
            "503",
            "504",
            "529",
            "unreadable_after",
            "reset_after",
            "hang_after",
            "huge_headers",
            "slow",
        )
    ),
    _passing("results", "truncated", "500", "short", "reset", name="results: four failures, one after the other"),
    *(
        Row(
            name=f"results: {kind}",
            live=_NO_BATCH,
            batch=Cell(rates=f"results:{kind}=1", sent_once=True),
            attach=Cell(rates=f"results:{kind}=1"),
        )
        for kind in ("trickle", "shuffled")
    ),
    *(
        _passing("poll", kind)
        for kind in (
            "reset",
            "408",
            "409",
            "429",
            "500",
            "503",
            "504",
            "529",
            "truncated",
            "unreadable_after",
            "hang_after",
            "huge_headers",
        )
    ),
    Row(
        name="poll: counts are low",
        live=_NO_BATCH,
        batch=Cell(rates="poll:low_counts=1", sent_once=True),
        attach=Cell(rates="poll:low_counts=1"),
    ),
    Row(
        name="poll: 404 for a while",
        live=_NO_BATCH,
        batch=Cell(
            rates="poll:404=1",
            paused=True,
            failed=None,
            booked=COVERS,
            sent_once=True,
            later=Later(heal=True, booked=EQUAL),
        ),
        attach=Cell(rates="poll:404=1", paused=True, failed=None, booked=COVERS),
    ),
    _lane("service_tier: fast", "openai", service_tier="fast"),
    _lane("service_tier: flex", "openai", service_tier="flex"),
    _lane("service_tier: ultrafast", "openai", service_tier="ultrafast"),
    _lane("serves the project's default tier, which is fast", "openai", {"default_tier": "fast"}),
    _lane("speed: fast", "anthropic", speed="fast"),
    _lane("serviceTier: flex", "gemini", serviceTier="flex"),
    _lane("serviceTier: priority", "gemini", serviceTier="priority"),
    Row(
        name="writes every long prompt to the cache at 1.25x",
        live=Cell(prompt=_LONG),
        batch=Cell(prompt=_LONG),
        attach=Cell(prompt=_LONG),
        wires=("openai",),
        other_wire="Anthropic writes its cache only when asked to, those of the others cost nothing to write",
    ),
    Row(
        name="writes a long block to the cache at 2x (an hour)",
        live=Cell(prompt=_LONG, cached=True),
        batch=Cell(prompt=_LONG, cached=True),
        attach=Cell(prompt=_LONG, cached=True),
        wires=("anthropic",),
        other_wire="an hour of cache is Anthropic's alone",
    ),
)
