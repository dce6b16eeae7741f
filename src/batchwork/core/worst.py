"""Decide what one call can cost at most: the one function behind reservations, batches, estimates and refusals."""

import math

from batchwork.core.blocks import Measure
from batchwork.core.bounds import is_plain, measure, plain_bound
from batchwork.core.ports import Traits
from batchwork.core.pricing import Price, Writes, lanes_asked
from batchwork.core.request import Request


class WorstCase:
    """The worst case of a backend's calls at one price, with what it adds around every request."""

    def __init__(self, price: Price | None, traits: Traits, *, count_margin: float = 0.0) -> None:
        self._price = None if price is None or price.is_free else price
        self._overhead = traits.overhead_tokens
        self._image_tokens = traits.image_tokens
        self._writes = Writes.HOUR if traits.cache_writes else Writes.NONE
        self._margin = count_margin  # on top of what a provider counts
        self._last: tuple[Request, Measure] | None = None

    def input_tokens(self, request: Request) -> int:
        """The most input tokens a call can be billed for; of one without a bound, a guess for pacing."""
        tokens = plain_bound(request)
        return (self._measured(request).tokens if tokens is None else tokens) + self._overhead

    def counted(self, tokens: int) -> int:
        """The most input tokens of a call for which the provider has counted so many: its count is an estimate."""
        return math.ceil(tokens * (1.0 + self._margin)) + self._overhead

    def unbounded(self, request: Request) -> str | None:
        """Why the cost of a request has no bound, naming what is in the way; None when it has one, or costs nothing."""
        if self._price is None or is_plain(request):
            return None
        unknown = self._measured(request).unknown
        for lane in lanes_asked(request.extra_body):
            if lane not in self._price.lanes:
                unknown = unknown or f"the lane {lane!r} (service_tier or speed), whose price is not known"
        if unknown is None:
            return None
        return f"cannot be bounded under max_cost: {unknown}; leave it out, or run without max_cost"

    def nano(self, request: Request, *, input_tokens: int | None = None) -> int:
        """The most a call can cost; 0 when it costs nothing, or nobody knows what.

        `input_tokens` is the bound of its input where that is known already, or a count that is better than it.
        """
        price = self._price
        if price is None:
            return 0
        tokens = self.input_tokens(request) if input_tokens is None else input_tokens
        if self._writes == 0 and is_plain(request):
            return price.worst(input_tokens=tokens, output_tokens=request.output_bound)
        writes = max(self._writes, _writes_of(self._measured(request), price, tokens))
        # A lane that cannot serve may fall back to the default one, which costs more than flex.
        lanes = (price, *(price.in_lane(lane) for lane in lanes_asked(request.extra_body)))
        most = (lane.worst(input_tokens=tokens, output_tokens=request.output_bound, writes=writes) for lane in lanes)
        return max(most)

    def _measured(self, request: Request) -> Measure:
        if self._last is None or self._last[0] is not request:
            self._last = (request, measure(request, image_tokens=self._image_tokens))
        return self._last[1]


def _writes_of(found: Measure, price: Price, tokens: int) -> Writes:
    """What a request may write into the prompt cache: where it asks for it, and where the model does so unasked."""
    if found.marked:
        return max(found.writes, Writes.SHORT)
    return max(found.writes, Writes.NONE if found.explicit else price.writes_unasked(tokens))
