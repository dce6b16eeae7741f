"""Send one request once, under a deadline, and turn whatever happens into a value."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Backend
from batchwork.core.reply import Reply
from batchwork.core.request import Request

T = TypeVar("T")
_log = logging.getLogger(__name__)


async def attempt(backend: Backend, request: Request, *, timeout_s: float, ceiling_nano: int | None) -> Reply | Failure:
    """The backend's reply, or its failure."""
    try:
        async with asyncio.timeout(timeout_s):
            return await backend.complete(request, ceiling_nano=ceiling_nano)
    except BackendError as error:
        return error.failure
    except TimeoutError:
        # The provider may still be working on it, and bill it.
        return Failure(kind=FailureKind.TIMEOUT, message=f"no answer within {timeout_s:g} s", unconfirmed=True)
    except Exception as error:  # a backend may be foreign code: its defect is this item's failure, not the run's end
        _log.exception("the backend %s raised %s", backend.traits.name, type(error).__name__)
        return Failure(kind=FailureKind.INTERNAL, message=f"{type(error).__name__} in the backend", unconfirmed=True)


async def within(timeout_s: float, call: Awaitable[T]) -> T:
    """A call about a batch under a deadline.

    Raises:
        BackendError: it failed, or took too long.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return await call
    except TimeoutError as error:
        failure = Failure(kind=FailureKind.TIMEOUT, message=f"no answer within {timeout_s:g} s", unconfirmed=True)
        raise BackendError(failure) from error
