"""Decide what one call can cost at most: the one function behind reservations, batches, estimates and refusals."""

from __future__ import annotations

from batchwork.core.bounds import input_bound
from batchwork.core.pricing import Price
from batchwork.core.request import Request


class WorstCase:
    """The worst case at one price, with what a backend adds around every request."""

    __slots__ = ("_overhead", "_price")

    def __init__(self, price: Price | None, *, overhead_tokens: int) -> None:
        self._price = None if price is None or price.is_free else price
        self._overhead = overhead_tokens

    def input_tokens(self, request: Request) -> int:
        """The most input tokens a call can be billed for."""
        return input_bound(request) + self._overhead

    def nano(self, request: Request, *, input_tokens: int | None = None) -> int:
        """The most a call can cost; 0 when it costs nothing, or nobody knows what.

        `input_tokens` is the bound of its input where that is known already, or a count that is better than it.
        """
        if self._price is None:
            return 0
        tokens = self.input_tokens(request) if input_tokens is None else input_tokens
        return self._price.worst(input_tokens=tokens, output_tokens=request.output_bound)
