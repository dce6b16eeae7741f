"""Every setting of the simulator, checked at birth, and the parser of its option strings."""

from dataclasses import dataclass, field
from math import exp, isfinite
from statistics import NormalDist
from typing import Any, Self

from batchwork.simulator.errors import SimulatorConfigError
from batchwork.simulator.faults import Faults
from batchwork.simulator.personas import BUILT_IN

_FROM_ZERO = ("batch_time_s", "validation_time_s", "cancel_time_s", "list_lag_s", "retry_after_s", "trickle_s")
_NORMAL = NormalDist()
_TIERS = ("default", "flex", "fast", "priority", "ultrafast")


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Lognormal time to answer: its median and the sigma of its logarithm."""

    median_s: float = 0.0
    sigma: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("median", self.median_s), ("sigma", self.sigma)):
            if not isfinite(value) or value < 0:
                raise SimulatorConfigError(f"latency {name} must be a number of at least 0, got {value}")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `0.3` or `0.3,0.8`: median in seconds and sigma."""
        parts = text.split(",")
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            numbers = []
        if len(numbers) not in (1, 2):
            raise SimulatorConfigError(f"latency {text!r}: expected MEDIAN or MEDIAN,SIGMA, for example 0.3,0.8")
        return cls(median_s=numbers[0], sigma=numbers[1] if len(numbers) == 2 else 0.0)

    def drawn(self, dice: float) -> float:
        """Seconds that one answer takes."""
        if not self.sigma:
            return self.median_s
        return self.median_s * exp(self.sigma * _NORMAL.inv_cdf(min(max(dice, 1e-9), 1 - 1e-9)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorConfig:
    """How the simulated provider behaves.

    Durations are simulated seconds: with `time_scale=60` a simulated minute takes a second. Rates
    (`rpm`, `input_tpm`, `output_tpm`) are real minutes, because clients wait for them by their own watch.
    """

    host: str = "127.0.0.1"
    port: int = 0
    persona: str = "reader"
    seed: int = 0
    latency: Latency = field(default_factory=Latency)
    rpm: int | None = None
    input_tpm: int | None = None
    output_tpm: int | None = None
    burst_s: float = 5.0
    rate_headers: bool = True
    retry_after_s: float = 1.0
    faults: Faults = field(default_factory=Faults)
    time_scale: float = 1.0
    clock_offset_s: float = 0.0  # how far its clock is ahead of the true time (behind, when negative)
    trickle_s: float = 0.02  # the pause after each line of a download that trickles
    default_tier: str = "default"  # what OpenAI's `service_tier` "auto" comes to in this project
    batch_time_s: float = 2.0
    validation_time_s: float = 0.2
    cancel_time_s: float = 0.5
    list_lag_s: float = 0.0
    window_s: float = 24 * 3600.0
    max_request_bytes: int = 32 * 2**20
    max_batch_bytes: int = 256 * 2**20
    max_batch_requests: int = 100_000
    max_file_bytes: int = 200 * 2**20
    max_file_requests: int = 50_000
    api_keys: frozenset[str] | None = None  # those that are taken; None: any
    key_required: bool = True  # as at a real provider; without it a call may show none

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SimulatorConfigError(f"port must be between 0 (any free one) and 65535, got {self.port}")
        if self.persona not in BUILT_IN and not self.persona.startswith(("script:", "quotes:")):
            known = f"{', '.join(BUILT_IN)}, script:FILE or quotes:CHARACTER:FILE"
            raise SimulatorConfigError(f"unknown persona {self.persona!r}: one of {known}")
        if self.persona == "script:":
            raise SimulatorConfigError("persona script: needs a file, for example script:outcomes.json")
        for name in ("rpm", "input_tpm", "output_tpm"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SimulatorConfigError(f"{name} must be at least 1, got {value}; leave it out for no limit")
        if self.default_tier not in _TIERS:
            raise SimulatorConfigError(f"unknown default_tier {self.default_tier!r}: one of {', '.join(_TIERS)}")
        if not isfinite(self.clock_offset_s):
            raise SimulatorConfigError(f"clock_offset_s must be a number, got {self.clock_offset_s}")
        for name in ("time_scale", "burst_s", "window_s", *_FROM_ZERO):
            value, least = getattr(self, name), "of at least 0" if name in _FROM_ZERO else "above 0"
            if not isfinite(value) or value < 0 or (value == 0 and name not in _FROM_ZERO):
                raise SimulatorConfigError(f"{name} must be a number {least}, got {value}")

    def takes(self, key: str) -> bool:
        """Whether a call may show this key; whether it may show none is `key_required`'s."""
        return not key or self.api_keys is None or key in self.api_keys

    @classmethod
    def from_options(cls, *, latency: str = "0", faults: str = "", require_key: bool = False, **settings: Any) -> Self:
        """From the command line's words, where two settings leave out that they are in seconds."""
        named = {f"{name}_s" if name in ("batch_time", "clock_offset") else name: settings[name] for name in settings}
        return cls(latency=Latency.parse(latency), faults=Faults.parse(faults), key_required=require_key, **named)
