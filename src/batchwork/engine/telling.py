"""Tell the user's callback what was recorded; what it raises stops the run cleanly."""

from __future__ import annotations

from collections.abc import Callable

from batchwork.core.errors import CallbackError
from batchwork.core.event import Event


def tell(on_event: Callable[[Event], None] | None, event: Event) -> None:
    """Call back, if there is anybody to call.

    Raises:
        CallbackError: the callback raised.
    """
    if on_event is None:
        return
    try:
        on_event(event)
    except Exception as error:  # the user's callback is foreign code
        raise CallbackError(f"on_event raised {type(error).__name__}: {error}") from error
