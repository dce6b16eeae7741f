"""A backend without a model: echoes, reads, follows a script, fails and dawdles as set up. It says that it is a mock.

From the command line it is set up by its name: `mock:echo?latency=0.2&sigma=1&faults=server:0.05&rpm=600&seed=7`.
"""

import math
import os
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from batchwork.backends import Setup, options_in
from batchwork.backends._content import as_blocks, check_sampling
from batchwork.core.bucket import Bucket
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Clock, Traits
from batchwork.core.reply import Limit, Reply, ReportedLimits, Usage
from batchwork.core.request import Attachment, Message, Request
from batchwork.core.sampling import SAMPLING_NAMES

if TYPE_CHECKING:
    from batchwork.literal.answer import CitedAnswer

Script = Callable[[Request, int], Reply | Failure | str]
_NOTICES = {
    "echo": "mock backend: no language model is called, answers are made up here",
    "reader": "mock backend: no language model is called, a literal reader answers from the text it is given",
}
_READER = "mock:reader"
TRAITS = Traits(name="mock", free=True, notice=_NOTICES["echo"], sampling=SAMPLING_NAMES)


@dataclass(kw_only=True, eq=False)
class MockBackend:
    """Answers by echo or by `script(request, how_manieth_call)`, after a delay, with faults, under a rate limit."""

    clock: Clock
    script: Script | None = None
    latency_s: float = 0.0
    sigma: float = 0.0
    faults: Mapping[FailureKind, float] | None = None
    rpm: float | None = None
    headers: bool = False
    limited: InitVar[bool] = False
    seed: InitVar[int] = 0
    log: InitVar[Path | None] = None
    persona: InitVar[str] = "echo"
    calls: int = field(default=0, init=False)
    in_flight: int = field(default=0, init=False)
    most_in_flight: int = field(default=0, init=False)

    def __post_init__(self, limited: bool, seed: int, log: Path | None, persona: str) -> None:
        self._bucket: Bucket | None = None
        self._dice = random.Random(seed)
        self._log = None if log is None else os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.traits = replace(TRAITS, limited=limited, notice=_NOTICES[persona])

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        del ceiling_nano
        if request.sampling:
            check_sampling(request.sampling, SAMPLING_NAMES, "a mock")
        self.calls += 1
        call = self.calls
        if self._log is not None:  # before the answer, so that a kill at any instant leaves no call unlogged
            os.write(self._log, f"{request.key}\n".encode())
        limits = None if self.rpm is None else self._take_rate(self.rpm)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.clock.sleep(self._delay())
        finally:
            self.in_flight -= 1
        if self.faults:
            self._maybe_fail(self.faults)
        answer = _echo(request) if self.script is None else self.script(request, call)
        if isinstance(answer, Failure):
            raise BackendError(answer)
        if isinstance(answer, str):
            tokens = min(tokens_of(answer), request.output_bound)
            usage = Usage(input_tokens=tokens_of(_last(request)), output_tokens=tokens)
            answer = Reply(text=answer, usage=usage, model="mock", stop_reason="end_turn")
        return answer if limits is None else msgspec.structs.replace(answer, limits=limits)

    def _delay(self) -> float:
        if not self.sigma:
            return self.latency_s
        return self.latency_s * math.exp(self.sigma * self._dice.gauss(0.0, 1.0))

    def _take_rate(self, rpm: float) -> ReportedLimits | None:
        now = self.clock.now()
        if self._bucket is None:
            self._bucket = Bucket(per_minute=rpm, now=now)
        wait = self._bucket.wait_for(1, now)
        left = max(0.0, math.floor(self._bucket.level(now)))
        limits = ReportedLimits(requests=Limit(per_minute=rpm, remaining=left)) if self.headers else None
        if wait > 0:
            message = f"mock limit of {rpm:g} requests per minute"
            raise BackendError(
                Failure(kind=FailureKind.RATE_LIMITED, message=message, retry_after_s=wait, limits=limits)
            )
        self._bucket.take(1, now)
        return limits

    def _maybe_fail(self, faults: Mapping[FailureKind, float]) -> None:
        roll = self._dice.random()
        for kind, share in faults.items():
            roll -= share
            if roll < 0:
                unconfirmed = kind in (FailureKind.TIMEOUT, FailureKind.CONNECTION)
                raise BackendError(Failure(kind=kind, message="injected by the mock", unconfirmed=unconfirmed))

    async def aclose(self) -> None:
        """Close the call log."""
        if self._log is not None:
            os.close(self._log)
            self._log = None


def _echo(request: Request) -> Reply:
    """The answer of `mock:echo`: the last message. Asked again because of a schema, it says the same again."""
    asked = said = _last(request)
    if request.schema is not None and len(request.messages) > 2:
        before, own = request.messages[-3:-1]
        said = str(own.content) if own.role == "assistant" and own.content == before.content else said
    return _said(said, request, input_tokens=tokens_of(asked), model="mock")


def _last(request: Request) -> str:
    content = request.messages[-1].content
    return content if isinstance(content, str) else " ".join(str(block.get("text", "")) for block in content)


def _said(text: str, request: Request, *, input_tokens: int, model: str) -> Reply:
    """A text as an answer: no longer than `max_tokens` allow."""
    most = request.output_bound
    usage = Usage(input_tokens=input_tokens, output_tokens=min(tokens_of(text), most))
    if tokens_of(text) <= most:
        return Reply(text=text, usage=usage, model=model, stop_reason="end_turn")
    return Reply(text=text[: most * 4 - 1], usage=usage, model=model, stop_reason="max_tokens", truncated=True)


def _read(request: Request, _call: int) -> Reply:
    """The answer of `mock:reader`: only from the text that the request holds.

    Fills a schema field by field; with citations on, says where each thing stands, in the blocks that Anthropic
    would send.
    """
    from batchwork import literal  # noqa: PLC0415 (a room that echoing has no use for)

    turns = [_text(message) for message in request.messages if message.role == "user"]
    texts = [document.text or "" for document in request.documents]
    question, text = literal.split_turns(turns, texts, request.system or "")
    input_tokens = tokens_of(_sent(request))
    if request.schema is not None:
        value, _ = literal.fill(request.schema.body, text, question=question)
        return _said(msgspec.json.encode(value).decode(), request, input_tokens=input_tokens, model=_READER)
    if not any(document.citations for document in request.documents):
        return _said(literal.read(question, text).text, request, input_tokens=input_tokens, model=_READER)
    blocks = tuple(_cited(request, literal.read_each(question, texts, text)))
    answer = "".join(block["text"] for block in blocks)
    usage = Usage(input_tokens=input_tokens, output_tokens=min(tokens_of(answer), request.output_bound))
    return Reply(text=answer, usage=usage, model=_READER, stop_reason="end_turn", blocks=blocks)


def _sent(request: Request) -> str:
    """Everything that a provider would count: the system prompt, the schema, the documents and every turn."""
    schema = "" if request.schema is None else msgspec.json.encode(request.schema.body).decode()
    documents = (document.text or "" for document in request.documents)
    return "".join((request.system or "", schema, *documents, *map(_text, request.messages)))


def _text(message: Message) -> str:
    return "\n\n".join(str(block.get("text", "")) for block in as_blocks(message.content))


def _cited(request: Request, answers: Iterable["CitedAnswer"]) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for found in answers:
        block = {"type": "text", "text": ("\n" if blocks else "") + found.text}
        places = [_place(request.documents[index], index, start, end) for index, start, end in found.places]
        blocks.append(block | {"citations": places} if places else block)
    return blocks


def _place(document: Attachment, index: int, start: int, end: int) -> dict[str, Any]:
    return {
        "type": "char_location",
        "document_index": index,
        "document_title": document.title,
        "cited_text": (document.text or "")[start:end],
        "start_char_index": start,
        "end_char_index": end,
    }


def tokens_of(text: str) -> int:
    """As many as a text may have at a real provider, roughly."""
    return len(text) // 4 + 1


def describe(name: str, _base_url: str | None) -> Traits:
    """What is known before it is opened."""
    return replace(TRAITS, notice=_NOTICES.get(name.partition("?")[0]))


def open_backend(name: str, setup: Setup) -> MockBackend:
    """A mock from its name."""
    persona, options = options_in(name, _OPTIONS, "mock")
    if persona not in _NOTICES:
        raise ConfigError(f"unknown mock {persona!r}; there is {', '.join(f'mock:{known}' for known in _NOTICES)}")
    latency_s = options.pop("latency", 0.0)
    script = _read if persona == "reader" else None
    return MockBackend(clock=setup.clock, persona=persona, script=script, latency_s=latency_s, **options)


def _faults(text: str) -> dict[FailureKind, float]:
    """`server:0.05,timeout:0.01` as shares of the calls."""
    pairs = (part.partition(":") for part in filter(None, text.split(",")))
    return {FailureKind(kind): float(share) for kind, _, share in pairs}


def _switch(text: str) -> bool:
    return text not in ("0", "")


_OPTIONS: dict[str, Callable[[str], Any]] = {
    "latency": float,
    "sigma": float,
    "faults": _faults,
    "rpm": float,
    "headers": _switch,
    "seed": int,
    "log": Path,
    "limited": _switch,
}
