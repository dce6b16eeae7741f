"""Runs six items against a provider that misbehaves, and judges what became of them from the provider's own bill."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import batchwork
from batchwork import BatchJob, RunPaused
from batchwork.simulator import Simulator, SimulatorConfig
from batchwork.simulator.faults import AFTER_KINDS
from tests.simulator.wire import create_batch, created_id
from tests.support.fast_time import fast_loops
from tests.torture.misbehaviours import COVERS, EQUAL, ITEMS, LOST, PER_BATCH, Cell, Later

MODELS = {
    "anthropic": "claude-haiku-5-5",
    "openai": "gpt-6-luna",
    "bedrock": "amazon.nova-lite-v1:0",
    "azure": "gpt-4o",
    "azure-classic": "gpt-4o",
    "gemini": "gemini-3.6-flash",
    "groq": "openai/gpt-oss-120b",
    "mistral": "mistral-small-latest",
    "openrouter": "openai/gpt-4o-mini",
    "together": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
}
MAX_TOKENS = 50
# Answers that were read and cannot be used: asking again is the policy's business.
_UNUSABLE = frozenset({"null", "malformed", "refusal", "empty", "max_tokens"})


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What a run says of itself."""

    statuses: list[str]
    kinds: list[str]  # of the failures
    booked_nano: int
    paused: bool = False


class Bill:
    """What the provider says, about our items alone."""

    def __init__(self, provider: Simulator) -> None:
        provider.advance(60)  # whatever is still at the provider runs, and is billed
        log = provider.log()
        self.other: dict[str, int] = log["other"]
        self.batches: dict[str, dict[str, Any]] = log["batches"]
        self.rows = [row for row in log["requests"] if not row["preview"].startswith("theirs")]

    def nano(self, *, told_free: bool = True) -> int:
        """What our items cost in all; with or without calls that were billed although their status said an error."""
        return sum(row["nano_dollars"] for row in self.rows if told_free or row["fault"] not in AFTER_KINDS)

    @property
    def received(self) -> int:
        """How many requests came."""
        return len(self.rows)

    @property
    def downloads(self) -> int:
        """How often results were asked for."""
        return self.other.get("results", 0)

    def paid_twice(self) -> list[str]:
        """The prompts that were sent again although an answer to them was read or could still be fetched."""
        good: set[str] = set()
        twice: list[str] = []
        for row in sorted(self.rows, key=lambda row: int(row["number"])):
            if row["prompt"] in good:
                twice.append(row["preview"])
            if row["billed"] and row["fetchable"] and row["fault"] not in _UNUSABLE:
                good.add(row["prompt"])
        return twice

    def sent_twice(self) -> int:
        """How many prompts came more than once."""
        return len(self.rows) - len({row["prompt"] for row in self.rows})


class Trial:
    """One cell: a provider of its own, a journal, and as many runs as the cell has."""

    def __init__(self, cell: Cell, wire: str, mode: str, folder: Path, journal: str | None = None) -> None:
        self.cell, self.wire, self.mode = cell, wire, mode
        self.rows: list[dict[str, Any]] = []  # what the provider received in the first run
        self._journal: Any = journal or folder / "j.db"
        settings = {"batch_time_s": 0.1, "validation_time_s": 0.02, "retry_after_s": 1.0, "trickle_s": 0.01}
        self._persona = "schema" if "schema" in cell.options else "echo"
        self._config = SimulatorConfig(persona=self._persona, **{**settings, **cell.provider})

    def run(self) -> str:
        """See it through and judge it; how booked and billed compared."""
        with Simulator(self._config) as provider, fast_loops():
            if self.cell.stranger:
                self._strange(provider)
            batch_id = self._made(provider) if self.mode == "attach" else ""
            provider.set_faults(self.cell.rates)
            for scope, kinds in self.cell.first.items():
                if not (self.mode == "attach" and scope in ("create", "item")):
                    provider.next_faults(scope, kinds)
            try:
                ended = self._attached(provider, batch_id) if self.mode == "attach" else self._ran(provider)
            except batchwork.ConfigError:
                if not self.cell.refusable:
                    raise
                ended = None
            bill = Bill(provider)
            self.rows = bill.rows
            if ended is None or (self.cell.refusable and set(ended.kinds) == {"bad_input"}):
                assert bill.received == 0, "what is refused is not sent"
                return "refused"
            self._judge(ended, bill)
            if self.cell.later is not None:
                self._go_on(provider, self.cell.later, bill)
            return "paused" if self.cell.paused else self.cell.booked

    def _judge(self, ended: Ended, bill: Bill) -> None:
        cell = self.cell
        assert ended.paused == cell.paused, "whether the run pauses"
        if not cell.paused:
            assert len(ended.statuses) == ITEMS
            assert set(ended.statuses) <= {"succeeded", "failed"}, "every input has one outcome"
        if cell.failed is not None:
            assert len(ended.kinds) == cell.failed, f"{cell.failed} items fail, not {ended.kinds}"
        if cell.kinds:
            assert set(ended.kinds) <= cell.kinds
        assert bill.paid_twice() == [], "sent again although its answer could be fetched"
        if cell.sent_once:
            assert bill.sent_twice() == 0, "an item was sent twice"
        if cell.searched is not None:
            assert bool(bill.other.get("list")) == cell.searched, "whether the provider's batches are looked through"
        if not cell.paused:  # what is still at the provider is reserved, not yet booked
            _compare(ended.booked_nano, bill, cell.booked)

    def _go_on(self, provider: Simulator, later: Later, before: Bill) -> None:
        if later.heal:
            provider.set_faults("")
        ended = self._ran(provider, retry_failed=later.retry_failed)
        bill = Bill(provider)
        assert ended.statuses.count("succeeded") == ITEMS - later.failed
        assert bill.received - before.received == later.sent_again, "how many are sent again"
        assert bill.paid_twice() == []
        if later.asks_again:
            assert bill.downloads > before.downloads, "the old results are asked for before anything is sent"
        _compare(ended.booked_nano, bill, later.booked)

    def _ran(self, provider: Simulator, *, retry_failed: bool = False) -> Ended:
        options: dict[str, Any] = {
            "model": f"{self.wire}:{MODELS[self.wire]}",
            "base_url": _url(provider, self.wire),
            "api_key": "none",
            "max_tokens": MAX_TOKENS,
            "max_cost": 1,
            "max_consecutive_failures": 1000,
            "journal": self._journal,
            "retry_failed": retry_failed,
        }
        if self.mode == "batch":
            options |= {"mode": "batch", "items_per_batch": PER_BATCH, "max_parallel_batches": 2, **self._watching()}
        paused = False
        try:
            results = batchwork.run(self._prompts(), **(options | dict(self.cell.options)))
        except RunPaused as pause:
            paused, results = True, pause.results
        statuses = [outcome.status.value for outcome in results]
        kinds = [_kind(outcome.error) for outcome in results if outcome.status == "failed"]
        booked = results.total_cost
        results.close()
        return Ended(statuses=statuses, kinds=kinds, booked_nano=_nano(booked), paused=paused)

    def _attached(self, provider: Simulator, batch_id: str) -> Ended:
        options = {key: value for key, value in self.cell.options.items() if key not in ("max_cost", "extra_body")}
        job = BatchJob.attach(
            batch_id,
            model=f"{self.wire}:{MODELS[self.wire]}",
            messages=self._prompts(),
            base_url=_url(provider, self.wire),
            api_key="none",
            max_tokens=MAX_TOKENS,
            **(self._watching() | options),
        )
        assert job.wait(60), "attach comes to an end"
        try:
            results = job.results()
        except batchwork.BatchworkError:
            if not self.cell.paused:
                raise
            return Ended(statuses=[], kinds=[], booked_nano=0, paused=True)
        statuses = [result.status.value for result in results]
        kinds = [_kind(result.error) for result in results if result.status == "failed"]
        assert [result.original_index for result in results] == list(range(ITEMS)), "in the order of the input"
        return Ended(statuses=statuses, kinds=kinds, booked_nano=_nano(results.total_cost))

    def _watching(self) -> dict[str, Any]:
        """What is lost for good is not waited for long; what comes late is."""
        patience_s = _SHORT_PATIENCE_S if LOST in self.cell.kinds else _PATIENCE_S
        return {"poll_interval": 1.0, "adopt_wait": _ADOPT_WAIT_S, "results_wait": patience_s}

    def _prompts(self) -> list[Any]:
        return [self._messages(n) for n in range(ITEMS)]

    def _messages(self, number: int) -> list[dict[str, Any]]:
        text = self.cell.prompt.format(number)
        if not self.cell.cached:
            return [{"role": "user", "content": text}]
        prefix, _, rest = text.partition("Question")
        control = {"type": "ephemeral", "ttl": "1h"}
        blocks = [
            {"type": "text", "text": prefix, "cache_control": control},
            {"type": "text", "text": "Question" + rest},
        ]
        return [{"role": "user", "content": blocks}]

    def _made(self, provider: Simulator) -> str:
        """The id of a batch that another process has created; what befalls its items does so now."""
        provider.next_faults("item", self.cell.first.get("item", ()))
        bodies: dict[str, dict[str, Any]] = {}
        for number in range(ITEMS):
            schema = self.cell.options.get("schema")
            bodies[f"run-1-{number}-0123abcd"] = _body(self.wire, self._messages(number), MAX_TOKENS, schema)
        return created_id(create_batch(provider, self.wire, bodies))

    def _strange(self, provider: Simulator) -> None:
        """Somebody else's batch, as large as ours."""
        bodies = {
            f"theirs-{n}": _body(self.wire, [{"role": "user", "content": f"theirs {n}"}], 10) for n in range(PER_BATCH)
        }
        create_batch(provider, self.wire, bodies)


_ADOPT_WAIT_S, _PATIENCE_S, _SHORT_PATIENCE_S = 12.0, 200.0, 12.0  # of fast time


def _compare(booked_nano: int, bill: Bill, booked: str) -> None:
    if booked == EQUAL:
        assert booked_nano == bill.nano(), "booked is what was billed"
    else:
        least = bill.nano(told_free=booked == COVERS)
        assert booked_nano >= least, "at least as much is booked as was billed"


def _body(
    wire: str, messages: list[dict[str, Any]], max_tokens: int, schema: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A request as somebody else would write it."""
    if wire == "gemini":
        config: dict[str, Any] = {"maxOutputTokens": max_tokens}
        if schema is not None:
            config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
        contents = [{"role": "user", "parts": [{"text": one["content"]}]} for one in messages]
        return {"contents": contents, "generationConfig": config}
    limit = "max_tokens" if wire in ("anthropic", "mistral") else "max_completion_tokens"
    body = {"model": MODELS[wire], "messages": messages, limit: max_tokens}
    return body if schema is None else body | _formats(wire, schema)


def _formats(wire: str, schema: dict[str, Any]) -> dict[str, Any]:
    if wire == "anthropic":
        return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    inner = {"name": "answer", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": inner}}


def _url(provider: Simulator, wire: str) -> str:
    return provider.service_url(wire)


def _kind(error: str | None) -> str:
    return (error or "").partition(":")[0]


def _nano(dollars: Decimal | None) -> int:
    assert dollars is not None, "the price is known"
    return int(dollars * 10**9)
