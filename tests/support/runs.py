"""Short ways to run prompts in virtual time, for the tests of runs."""

from typing import Any

import batchwork
from batchwork.core.failure import FailureKind
from tests.support.scripted import Scripted, failure
from tests.support.virtual_time import run_virtual

PRICE = (1.0, 1.0)  # a micro-dollar per token, in and out


def texts_of(results: Any) -> list[str | None]:
    return [outcome.text for outcome in results]


def statuses_of(results: Any) -> list[str]:
    return [outcome.status.value for outcome in results]


def run_all(prompts: Any, **options: Any) -> batchwork.Results:
    return run_virtual(batchwork.arun(prompts, **{"model": "mock:echo", **options}))


def down(*bad: str) -> Scripted:
    """Fails for these prompts, answers the others."""
    return Scripted(lambda prompt, call: failure(FailureKind.SERVER) if prompt in bad else prompt)


def dear(**more: Any) -> dict[str, Any]:
    """Calls that cost 15 micro-dollars and may cost about 100."""
    return {"price": PRICE, "max_tokens": 10, "max_in_flight": 4, **more}
