"""A persona: fills a schema, answers a prompt in words, and may want something to happen to a call."""

from abc import ABC, abstractmethod
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.simulator.prompt import Answer, Block, Prompt


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a script wants to happen to one call: a fault or `ok`, words to say, a delay."""

    kind: str = "ok"
    text: str | None = None
    json: Any = None
    delay_s: float = 0.0


class Persona(ABC):
    """Somebody who answers prompts."""

    def answer(self, prompt: Prompt) -> Answer:
        """The whole answer; pure, and the same for the same prompt."""
        tool = prompt.chosen_tool()
        if tool is not None:
            value = self.filled(tool.schema, prompt)
            return Answer(blocks=(Block(kind="tool_use", name=tool.name, input=value),), stop="tool_use")
        if prompt.schema is not None:
            return Answer(blocks=(Block(text=msgspec.json.encode(self.filled(prompt.schema, prompt)).decode()),))
        return Answer(blocks=self.words(prompt))

    def step(self, prompt: Prompt, custom_id: str | None, seen_before: int) -> Step | None:  # noqa: ARG002
        """What should happen to this call, or None for nothing in particular."""
        return None

    @abstractmethod
    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        """An instance of the schema."""

    @abstractmethod
    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        """The answer to a prompt that asks for no schema."""
