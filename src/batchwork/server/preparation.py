"""The first and the third phase of a request inside of a server: in slices, and what is large elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
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
from batchwork.prompts.schema_cache import is_large, keep_schema
from batchwork.prompts.worker import Done, ExtractJob, SchemaJob
from batchwork.schema import SchemaError, values_at_most
from batchwork.server.turns import Turns
from batchwork.server.workers import Workers, WorkFailed

_SHORT = 20_000  # characters of an answer that are read here
_FEW_VALUES = 5_000
_encode = msgspec.json.Encoder().encode


class Preparation:
    """Prepares prompts and finishes answers for one server."""

    def __init__(self, workers: Workers, turns: Turns, defaults: PromptDefaults) -> None:
        self._workers = workers
        self._turns = turns
        self._defaults = defaults

    async def prepare(self, items: Iterable[PromptItem], *, caller: int | None) -> list[PreparedPrompt]:
        """The first phase; nothing is sent before all of it is done.

        `items` may be decoded one by one, so that what is not needed any more goes at once.
        """
        slices = self._turns.slices()
        prepared: list[PreparedPrompt] = []
        remaining = iter(items)
        while True:
            await slices.next()
            item = next(remaining, None)
            if item is None:
                return prepared
            if item.response_format is not None:
                await slices.next()
                await self._look_at_large_schema(item, caller)
                await slices.next()
            prepared.append(prepare_prompt_request(item, self._defaults, index=len(prepared)))

    async def _look_at_large_schema(self, item: PromptItem, caller: int | None) -> None:
        """Have a large schema checked by a worker, so that what it comes to is known here."""
        assert item.response_format is not None
        asked, defaults = item.response_format.json_schema, self._defaults
        provider = defaults.models.get(item.model or defaults.model)
        try:
            if not is_large(asked.schema, asked.name, provider, defaults.limits):
                return
        except SchemaError:
            return  # the first phase says so in its turn
        made: Any = None
        problem: SchemaError | None = None
        try:
            result = await self._workers.run(SchemaJob(asked.schema, provider, defaults.limits), caller=caller)
            if isinstance(result, Done):
                made = msgspec.json.decode(result.json)
            else:
                place, *said = result.sentences if len(result.sentences) > 1 else ["", *result.sentences]
                problem = SchemaError(place, " ".join(said))
        except WorkFailed as error:
            problem = SchemaError("", f"too complex: to check it, {error}")
        keep_schema(asked.schema, asked.name, provider, made=made, problem=problem)

    async def finish(
        self, prompt: PreparedPrompt, outcome: Outcome | None, unsent: Problem | None = None, *, caller: int | None
    ) -> Answer:
        """The third phase of one prompt."""
        if isinstance(outcome, Succeeded) and len(outcome.reply.text) > _SHORT:
            await self._turns.wait()
        if isinstance(outcome, Succeeded) and (text := _large(prompt, outcome)) is not None:
            assert prompt.path is not None
            return finish_value(prompt, outcome, await self._extracted(text, prompt.path.text, caller))
        return _as_text(finish_answer(prompt, outcome, unsent))

    async def _extracted(self, text: str, path: str, caller: int | None) -> msgspec.Raw | Problem:
        try:
            result = await self._workers.run(ExtractJob(clean(text), path), caller=caller)
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
