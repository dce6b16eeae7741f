"""The first and the third phase of a request inside of a server: in slices, and what is large elsewhere."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from batchwork.core.outcome import Outcome, Succeeded
from batchwork.prompts import (
    Answer,
    PreparedPrompt,
    Problem,
    PromptDefaults,
    PromptItem,
    finish_answer,
    finish_value,
    prepare_prompt_request,
)
from batchwork.prompts.finish import clean
from batchwork.prompts.item import NamedSchema
from batchwork.prompts.prepare import RequestIds, is_large, keep_schema
from batchwork.prompts.worker import Done, ExtractJob, SchemaJob
from batchwork.schema import SchemaError, values_at_most
from batchwork.server.keys import caller
from batchwork.server.loop_time import LoopTime, TimeSlices
from batchwork.server.workers import Workers, WorkFailed

_SHORT = 20_000  # characters of an answer that are read here
_FEW_VALUES = 5_000
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Phases:
    """Prepares prompts and finishes answers for one server."""

    workers: Workers
    loop_time: LoopTime
    defaults: PromptDefaults

    async def prepare(self, items: Iterable[PromptItem | PreparedPrompt]) -> list[PreparedPrompt]:
        """The first phase; nothing is sent before all of it is done.

        `items` may be decoded one by one, so that what is not needed any more goes at once. Those that could not be
        read are prepared already: they have their problem.
        """
        slices = TimeSlices(self.loop_time)
        prepared: list[PreparedPrompt] = []
        ids = RequestIds()
        await slices.next()
        for item in items:
            if isinstance(item, PromptItem):
                if item.response_format is not None:
                    await slices.next()
                    await self._check_large_schema(item.response_format.json_schema, item.model)
                    await slices.next()
                item = prepare_prompt_request(item, self.defaults, index=len(prepared))  # noqa: PLW2901
            prepared.append(ids.checked(item))
            await slices.next()
        return prepared

    async def _check_large_schema(self, named: NamedSchema, model: str | None) -> None:
        """Have a large schema checked by a worker, and remember what it says."""
        defaults = self.defaults
        provider = defaults.models.get(model or defaults.model)
        try:
            if not is_large(named.schema, named.name, provider, defaults.limits):
                return
        except SchemaError:
            return  # the first phase says so in its turn
        compiled: Any = None
        problem: SchemaError | None = None
        try:
            result = await self.workers.run(SchemaJob(named.schema, provider, defaults.limits), caller=caller.get())
            if isinstance(result, Done):
                compiled = msgspec.json.decode(result.json)
            else:
                place, *sentences = result.sentences if len(result.sentences) > 1 else ["", *result.sentences]
                problem = SchemaError(place, " ".join(sentences))
        except WorkFailed as error:
            problem = SchemaError("", f"too complex: to check it, {error}")
        keep_schema(named.schema, named.name, provider, compiled=compiled, problem=problem)

    async def finish(self, prompt: PreparedPrompt, outcome: Outcome | None, unsent: Problem | None = None) -> Answer:
        """The third phase of one prompt."""
        if isinstance(outcome, Succeeded) and len(outcome.reply.text) > _SHORT:
            await self.loop_time.wait()
        if isinstance(outcome, Succeeded) and (text := _large(prompt, outcome)) is not None:
            assert prompt.path is not None
            return finish_value(prompt, outcome, await self._extracted(text, prompt.path.text))
        return _as_text(finish_answer(prompt, outcome, unsent))

    async def _extracted(self, text: str, path: str) -> msgspec.Raw | Problem:
        try:
            result = await self.workers.run(ExtractJob(clean(text), path), caller=caller.get())
        except WorkFailed as error:
            return Problem(code="path_not_found", message=f"extract_field_path {path!r} was given up: {error}")
        if isinstance(result, Done):
            return msgspec.Raw(result.json)
        return Problem(code=result.code, message=result.sentences[-1])


def _large(prompt: PreparedPrompt, outcome: Succeeded) -> str | None:
    """The JSON that a field is to be taken out of, when it is too much to read here."""
    if prompt.path is None:
        return None
    assert prompt.request is not None
    if isinstance(outcome.parsed, msgspec.Raw):
        return bytes(outcome.parsed).decode()
    if prompt.request.schema is not None or len(outcome.reply.text) <= _SHORT:
        return None
    return outcome.reply.text if values_at_most(outcome.reply.text) > _FEW_VALUES else None


def _as_text(answer: Answer) -> Answer:
    """The answer with its JSON written: a thousand of them must not leave a heap of small objects to be swept."""
    if isinstance(answer.response, dict | list):
        return msgspec.structs.replace(answer, response=msgspec.Raw(_encode(answer.response)))
    return answer
