"""Checks answers against their schemas without holding the event loop up.

The engine's checker is synchronous. So the backend is wrapped, and an answer that has a schema is judged while the call
still counts as under way, by a worker when it may be much work. `check` then finds the verdict.
"""

from collections import OrderedDict

import msgspec

from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import AnswerVerdict, Backend
from batchwork.core.reply import Reply
from batchwork.core.request import Request, Schema
from batchwork.prompts.finish import MAX_DEPTH, clean
from batchwork.prompts.prepare import is_long_work, too_deep
from batchwork.prompts.worker import CheckJob, Done
from batchwork.schema import (
    AnswerChecker,
    Limits,
    NoJson,
    Rejected,
    SchemaChecker,
    checker_of,
    json_in,
    known_checker,
    rejected,
    values_at_most,
    whole_json_in,
)
from batchwork.server.keys import caller
from batchwork.server.loop_time import LoopTime
from batchwork.server.spans import BackendWrapper
from batchwork.server.workers import Workers, WorkFailed

_FEW_CHARACTERS = 2_000  # too short to hold many values, whatever they are
_MANY_VALUES = 20_000
_KEPT_AS_OBJECTS = 1_000  # values at most; a larger answer stays JSON, so that no heap of small objects lives here
_VALIDATING_US = 8_000.0
_EXPLAINING_RULES = 5_000  # values times rules: repairing and explaining are slower than validating
_EXPLAINING_US = 10_000.0
_MOST_VERDICTS = 2_000  # of calls that ended between their answer and the question
_encode = msgspec.json.Encoder().encode


class ServerChecker:
    """The checker of one server. Verdicts are kept between the reply and the engine's question."""

    def __init__(self, workers: Workers, loop_time: LoopTime, limits: Limits) -> None:
        self._workers = workers
        self._loop_time = loop_time
        self._limits = limits
        self._plain = AnswerChecker()
        self._verdicts: OrderedDict[tuple[bytes, str, bool], AnswerVerdict] = OrderedDict()

    def wrap(self, backend: Backend) -> Backend:
        """The backend, whose answers are judged before they are given on."""

        async def complete(request: Request, *, ceiling_nano: int | None = None) -> Reply:
            reply = await backend.complete(request, ceiling_nano=ceiling_nano)
            await self.judge(request, reply)
            return reply

        return BackendWrapper(backend, complete)

    def check(self, request: Request, reply: Reply) -> AnswerVerdict:
        """The verdict that was made before."""
        if request.schema is not None and self._verdicts:
            found = self._verdicts.pop((request.schema.digest, reply.text, reply.truncated), None)
            if found is not None:
                return found
        return self._plain.check(request, reply)

    async def judge(self, request: Request, reply: Reply) -> None:
        """Make the verdict on a reply."""
        if request.schema is None:
            return
        await self._loop_time.wait()
        verdict = self._here(request, reply, request.schema)
        if verdict is None:
            verdict = await self._elsewhere(request, reply, request.schema)
        self._verdicts[request.schema.digest, reply.text, reply.truncated] = verdict
        if len(self._verdicts) > _MOST_VERDICTS:
            self._verdicts.popitem(last=False)

    def _here(self, request: Request, reply: Reply, schema: Schema) -> AnswerVerdict | None:
        """The verdict, when it surely takes little; None when it may take more."""
        checker = known_checker(schema)
        if checker is None:
            if is_long_work(schema.body, self._limits):
                return None
            checker = checker_of(schema, self._limits)
        characters = len(reply.text)
        values = characters // 2 + 1 if characters <= _FEW_CHARACTERS else values_at_most(reply.text)
        weight = checker.schema.weight
        if values > _MANY_VALUES or weight.checking_us(values=values, characters=characters) > _VALIDATING_US:
            return None
        if values * weight.spread <= _EXPLAINING_RULES and weight.explaining_us <= _EXPLAINING_US:
            return self._plain.check(request, reply)
        return _valid(checker, reply, values)

    async def _elsewhere(self, request: Request, reply: Reply, schema: Schema) -> AnswerVerdict:
        try:
            job = CheckJob(schema.body, clean(reply.text), self._limits, reply.truncated)
            result = await self._workers.run(job, caller=caller.get())
        except WorkFailed as error:
            message = f"the answer could not be held against the schema: {error}"
            return AnswerVerdict(failure=Failure(kind=FailureKind.SCHEMA_VIOLATION, message=message))
        if isinstance(result, Done):
            return AnswerVerdict(value=msgspec.Raw(result.json))
        return rejected(request, reply, Rejected(tuple(result.sentences)))


def _valid(checker: SchemaChecker, reply: Reply, values: int) -> AnswerVerdict | None:
    """Accepted, when the answer fits as it is; what is wrong with others is for somebody with more time."""
    try:
        value = whole_json_in(reply.text) if reply.truncated else json_in(reply.text)
    except NoJson:
        return None
    if not checker.schema.validator.is_valid(value):
        return None
    if values <= _KEPT_AS_OBJECTS:
        return AnswerVerdict(value=value)
    return None if too_deep(value, MAX_DEPTH) else AnswerVerdict(value=msgspec.Raw(_encode(value)))
