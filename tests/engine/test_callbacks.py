import pytest

from batchwork.core.errors import CallbackError
from batchwork.core.event import Event, Reopened, Settled
from batchwork.core.outcome import Skipped
from batchwork.engine.callbacks import listener_for, tell


def test_a_journal_tells_everything_as_it_records_it_but_outcomes() -> None:
    heard: list[Event] = []
    listener = listener_for(heard.append)
    assert listener is not None
    listener(Settled(item=0, outcome=Skipped(index=0, reason="empty")))
    listener(Reopened(item=0))
    assert heard == [Reopened(item=0)]


def test_where_nobody_listens_nothing_is_called() -> None:
    assert listener_for(None) is None
    tell(None, Reopened(item=0))


def test_what_a_callback_raises_is_named_as_its_fault() -> None:
    def broken(event: Event) -> None:
        raise ZeroDivisionError("oops")

    with pytest.raises(CallbackError, match="on_event raised ZeroDivisionError: oops"):
        tell(broken, Reopened(item=0))
