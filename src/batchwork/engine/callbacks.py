"""Tell the user's callback what was recorded; what it raises stops the run cleanly."""

from collections.abc import Callable

from batchwork.core.errors import CallbackError
from batchwork.core.event import Event, Settled


def listener_for(on_event: Callable[[Event], None] | None) -> Callable[[Event], None] | None:
    """What a journal is to call: everything is told as it is recorded but outcomes, which are told once on disk."""
    if on_event is None:
        return None
    return lambda event: None if isinstance(event, Settled) else tell(on_event, event)


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
