"""Decide what a call costs, whatever came back: the one function behind live calls, batches and attached batches.

Pure. What the provider told is believed. What it did not tell, and may bill, is charged at the worst case of its
request and called unconfirmed, so that what is booked is never below the bill.
"""

from typing import NamedTuple

from batchwork.core.failure import Failure
from batchwork.core.failure_table import may_be_billed
from batchwork.core.pricing import Price
from batchwork.core.reply import Reply, Usage


class Charge(NamedTuple):
    """What one call is booked at."""

    nano: int
    unconfirmed: bool = False  # it is the worst case: the provider has not told what it bills


NOTHING = Charge(0)


def charge_for(result: Reply | Failure, *, price: Price | None, worst_nano: int) -> Charge:
    """What a call is booked at; without a known price, at nothing."""
    reply = result if isinstance(result, Reply) else result.reply
    if reply is not None and reply.reported_cost_nano is not None:
        return Charge(reply.reported_cost_nano)
    if price is None:
        return NOTHING
    usage = result.usage
    if usage is not None and (reply is None or _is_told(usage, reply)):
        return Charge(price.cost(usage, None if reply is None else reply.lane))
    if reply is not None or may_be_billed(result):  # type: ignore[arg-type]  # without a reply it is a failure
        return Charge(worst_nano, unconfirmed=worst_nano > 0)
    return NOTHING


def _is_told(usage: Usage, reply: Reply) -> bool:
    """Whether a usage can be what an answer used: nothing was ever answered for nothing, nor made of nothing."""
    return usage.input_tokens > 0 and (usage.output_tokens > 0 or not reply.text)
