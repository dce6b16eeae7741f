"""Echo: say what was asked; with a schema, an instance whose strings are the prompt."""

import msgspec

from batchwork.simulator.personas.random_schema import simplest
from batchwork.simulator.prompt import Block, Prompt, Said


class EchoPersona:
    """Answers every prompt with its last user turn."""

    def answer(self, prompt: Prompt) -> Said:
        """The last user turn, or the simplest instance of the schema that was asked for."""
        tool = prompt.chosen_tool()
        if tool is not None:
            value = simplest(tool.schema, prompt.last)
            return Said(blocks=(Block(kind="tool_use", name=tool.name, input=value),), stop="tool_use")
        if prompt.schema is not None:
            value = simplest(prompt.schema, prompt.last)
            return Said(blocks=(Block(text=msgspec.json.encode(value).decode()),))
        return Said(blocks=(Block(text=prompt.last),))

    def step(self, prompt: Prompt, custom_id: str | None, seen_before: int) -> None:  # noqa: ARG002
        """Nothing in particular."""
        return
