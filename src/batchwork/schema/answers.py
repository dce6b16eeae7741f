"""Decide whether an answer is acceptable: valid against the user's schema, asked again with the errors, or rejected."""

from __future__ import annotations

from batchwork.core.ports import Verdict
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_ACCEPTED = Verdict()


class AnswerChecker:
    """The checker of every run."""

    def check(self, request: Request, reply: Reply) -> Verdict:
        """Judge one reply."""
        if request.schema is None:
            return _ACCEPTED
        raise NotImplementedError(f"{reply}")
