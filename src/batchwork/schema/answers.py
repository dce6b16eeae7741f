"""Decide whether an answer is acceptable: valid against the user's schema, asked again with the errors, or rejected."""

from __future__ import annotations

from collections.abc import Mapping

from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Verdict
from batchwork.core.reply import Reply
from batchwork.core.request import Message, Request
from batchwork.core.request import Schema as RequestSchema
from batchwork.core.weighed import WeighedCache
from batchwork.schema.checker import Accepted, Rejected, SchemaChecker
from batchwork.schema.limits import DEFAULT_LIMITS, Limits

_ACCEPTED = Verdict()
_COMPILED_BYTES = 48 * 2**20  # of schemas in use at once; a server meets many, a run one
_compiled: WeighedCache[bytes, SchemaChecker] = WeighedCache(_COMPILED_BYTES)


class AnswerChecker:
    """The checker of every run, live or in batches."""

    def __init__(self, own: Mapping[bytes, SchemaChecker] | None = None) -> None:
        """`own` has, by a schema's digest, a checker that asks for more than the schema does: a model's validators."""
        self._own = own or {}

    def check(self, request: Request, reply: Reply) -> Verdict:
        """Judge one reply."""
        if request.schema is None:
            return _ACCEPTED
        if reply.truncated:
            message = f"the answer was cut off after {request.output_bound} tokens, before its JSON ended"
            return Verdict(failure=Failure(kind=FailureKind.TRUNCATED, message=message))
        checker = self._own.get(request.schema.digest) or checker_of(request.schema)
        judged = checker.check(reply.text)
        return Verdict(value=judged.value) if isinstance(judged, Accepted) else rejected(reply, judged)


def rejected(reply: Reply, judged: Rejected) -> Verdict:
    """What comes of a reply that does not fit: it is asked for again, with what was wrong."""
    said = (Message("assistant", reply.text),) if reply.text.strip() else ()
    return Verdict(
        failure=Failure(kind=FailureKind.SCHEMA_VIOLATION, message="; ".join(judged.errors)),
        reask=(*said, Message("user", judged.message)),
    )


def known_checker(schema: RequestSchema) -> SchemaChecker | None:
    """The checker of a schema that is compiled already."""
    return _compiled.get(schema.digest)


def checker_of(schema: RequestSchema, limits: Limits = DEFAULT_LIMITS, *, copy: bool = True) -> SchemaChecker:
    """The checker of a schema, compiled once while it is in use; without `copy` nobody changes the schema later.

    Raises:
        SchemaError: the schema cannot be used.
    """
    found = _compiled.get(schema.digest)
    if found is None:
        found = SchemaChecker(schema.body, limits, copy=copy)
        _compiled.put(schema.digest, found, found.schema.weight.bytes)
    return found
