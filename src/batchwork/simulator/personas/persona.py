"""Say what a persona is."""

from typing import Any, Protocol

from msgspec import Struct

from batchwork.simulator.prompt import Prompt, Said


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a script wants to happen to one call: a fault or `ok`, words to say, a delay."""

    kind: str = "ok"
    text: str | None = None
    json: Any = None
    delay_s: float = 0.0


class Persona(Protocol):
    """Somebody who answers prompts."""

    def answer(self, prompt: Prompt) -> Said:
        """The whole answer; pure, and the same for the same prompt."""
        ...

    def step(self, prompt: Prompt, custom_id: str | None, seen_before: int) -> Step | None:
        """What should happen to this call, or None for nothing in particular."""
        ...
