"""The options of a run: what cannot be meant is named before anything is read."""

from collections.abc import Iterator
from typing import Any

import pytest

import batchwork
from batchwork.options import RunOptions


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_inflight": 5}, "did you mean 'max_in_flight'"),
        ({"seed": 5}, r"goes into sampling=\{'seed': ...\}"),
        ({"max_in_flight": 0}, "max_in_flight"),
        ({"max_cost": -1}, "amount"),
        ({"max_cost": "much"}, "amount"),
        ({"retries": -1}, "retries"),
        ({"retries": 1.5}, "retries"),
        ({"timeout": 0}, "timeout"),
        ({"max_wait": "soon"}, "max_wait"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"rpm": 0}, "rpm"),
        ({"price": "1"}, "price"),
        ({"price": (1, 2, 3)}, "price"),
        ({"price": 5}, "price"),
        ({"price": (1, "x")}, "price"),
        ({"journal": 5}, "journal"),
        ({"base_url": 3}, "base_url must be an address, got 3"),
        ({"api_key": 5}, "api_key must be a text"),
        ({"fresh": "yes"}, "fresh must be True or False, got 'yes'"),
        ({"retry_failed": 1}, "retry_failed"),
        ({"cancel_on_interrupt": None}, "cancel_on_interrupt"),
        ({"progress": "bar"}, "progress"),
        ({"adopt_wait": "long"}, "adopt_wait"),
        ({"poll_interval": "5"}, "poll_interval"),
        ({"items_per_batch": 1.5}, "items per batch"),
        ({"journal": "no/such/folder/j.db"}, "no folder"),
        ({"system": 5}, "system"),
        ({"sampling": "hot"}, "sampling"),
        ({"on_event": "print"}, "on_event"),
        ({"backend": "mock"}, "backend"),
        ({"model": "mock:nobody"}, "mock:echo"),
        ({"model": "mok:echo"}, "mock:echo"),
        ({"model": None}, "model"),
        ({"response_model": dict}, "response_model is a Pydantic model class"),
        ({"state_path": "s.json"}, "belongs to BatchManager"),
    ],
)
def test_an_option_that_cannot_be_meant_is_named_before_anything_is_read(options: dict[str, Any], said: str) -> None:
    def prompts() -> Iterator[str]:
        raise AssertionError("the input was read")
        yield ""

    with pytest.raises(batchwork.ConfigError, match=said):
        batchwork.run(prompts(), **{"model": "mock:echo", **options})


def test_the_docstring_of_run_names_every_option() -> None:
    missing = [name for name in RunOptions.__annotations__ if name not in (batchwork.run.__doc__ or "")]
    assert not missing
