"""The built-in personas: echo, reader (through `batchwork.literal`) and schema."""

from typing import Any

from batchwork import literal
from batchwork.simulator.dice import generator
from batchwork.simulator.personas.instances import WORDS, Maker, simplest
from batchwork.simulator.personas.persona import Persona
from batchwork.simulator.prompt import Block, Citation, Prompt


class EchoPersona(Persona):
    """Answers every prompt with its last user turn, or with the simplest instance of the schema."""

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        """The plainest instance; its free strings are the last user turn."""
        return simplest(schema, prompt.last)

    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        """The last user turn."""
        return (Block(text=prompt.last),)


class SchemaPersona(Persona):
    """Answers with a random instance of the schema, or a few words without one; the same for the same prompt."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        """A random instance."""
        return Maker(schema, generator(self._seed, "schema", prompt.digest)).make(schema)

    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        """Eight words."""
        return (Block(text=" ".join(generator(self._seed, "schema", prompt.digest).choices(WORDS.split(), k=8))),)


class ReaderPersona(Persona):
    """Finds what stands in the prompt and its documents; says so when it does not."""

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        """What the text gives for the schema."""
        question, text = _question_and_text(prompt)
        return literal.fill(schema, text, question=question)[0]

    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        """The answer; with citations one block per thing asked, each with the place where it stands."""
        question, text = _question_and_text(prompt)
        if not prompt.citations:
            return (Block(text=literal.read(question, text).text),)
        blocks: list[Block] = []
        for found in literal.read_each(question, [document.text for document in prompt.documents], text):
            places = tuple(Citation(*place) for place in found.places)
            blocks.append(Block(text=("\n" if blocks else "") + found.text, citations=places))
        return tuple(blocks)


def _question_and_text(prompt: Prompt) -> tuple[str, str]:
    turns = [turn.text for turn in prompt.turns if turn.role == "user"]
    return literal.split_turns(turns, [document.text for document in prompt.documents], prompt.system)
