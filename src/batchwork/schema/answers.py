"""Decide whether an answer is acceptable: valid against the user's schema, asked again with the errors, or rejected."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Verdict
from batchwork.core.reply import Reply
from batchwork.core.request import Message, Request
from batchwork.core.request import Schema as RequestSchema
from batchwork.schema.checker import Accepted, SchemaChecker

_ACCEPTED = Verdict()
_COMPILED = 256  # schemas in use at once; a server meets many, a run one


class AnswerChecker:
    """The checker of every run, live or in batches."""

    def __init__(self, own: Mapping[bytes, SchemaChecker] | None = None) -> None:
        """`own` has, by a schema's digest, a checker that asks for more than the schema does: a model's validators."""
        self._own = own or {}
        self._compiled = lru_cache(maxsize=_COMPILED)(_compile)

    def check(self, request: Request, reply: Reply) -> Verdict:
        """Judge one reply."""
        if request.schema is None:
            return _ACCEPTED
        if reply.truncated:
            message = f"the answer was cut off after {request.output_bound} tokens, before its JSON ended"
            return Verdict(failure=Failure(kind=FailureKind.TRUNCATED, message=message))
        checker = self._own.get(request.schema.digest) or self._compiled(_Keyed(request.schema))
        judged = checker.check(reply.text)
        if isinstance(judged, Accepted):
            return Verdict(value=judged.value)
        said = (Message("assistant", reply.text),) if reply.text.strip() else ()
        return Verdict(
            failure=Failure(kind=FailureKind.SCHEMA_VIOLATION, message="; ".join(judged.errors)),
            reask=(*said, Message("user", judged.message)),
        )


class _Keyed:
    """A schema that is looked up by its digest."""

    __slots__ = ("schema",)

    def __init__(self, schema: RequestSchema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return hash(self.schema.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and other.schema.digest == self.schema.digest


def _compile(keyed: _Keyed) -> SchemaChecker:
    return SchemaChecker(keyed.schema.body)
