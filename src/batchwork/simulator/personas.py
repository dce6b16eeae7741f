"""Who answers: `reader` (through `batchwork.literal`), `echo`, `schema` or `script:FILE`.

A script is a JSON file `{"persona": "echo", "rules": [{"contains": "pear", "do": ["429", "refusal", "ok"]}]}`. The
first rule that fits a call counts: `contains` looks in the prompt, `custom_id` and `model` must be equal, none of them
fits everything. `do` is taken one step per time that prompt is seen, the last step for ever after. A step is a fault's
name, `ok`, or `{"kind": ..., "text": ..., "json": ..., "delay_s": ...}`.
"""

import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from batchwork import literal
from batchwork.simulator.dice import generator
from batchwork.simulator.errors import Refused, SimulatorConfigError
from batchwork.simulator.faults import KINDS
from batchwork.simulator.instances import WORDS, Maker, simplest
from batchwork.simulator.prompt import Answer, Block, Citation, Prompt

BUILT_IN = ("reader", "echo", "schema")
_MALFORMED = (AttributeError, LookupError, TypeError, ValueError, re.error)


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
            value = self._checked(tool.schema, prompt)
            return Answer(blocks=(Block(kind="tool_use", name=tool.name, input=value),), stop="tool_use")
        if prompt.schema is not None:
            return Answer(blocks=(Block(text=msgspec.json.encode(self._checked(prompt.schema, prompt)).decode()),))
        return Answer(blocks=self.words(prompt))

    def _checked(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        """An instance of the schema, or a refusal of one that has none or is not a schema."""
        try:
            return self.filled(schema, prompt)
        except RecursionError:
            raise Refused(400, "Invalid schema: it requires itself without end, or is nested too deeply.") from None
        except _MALFORMED as error:
            raise Refused(400, f"Invalid schema: {error!r}") from None

    def step(self, prompt: Prompt, custom_id: str | None, seen_before: int) -> Step | None:  # noqa: ARG002
        """What should happen to this call, or None for nothing in particular."""
        return None

    @abstractmethod
    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        """An instance of the schema."""

    @abstractmethod
    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        """The answer to a prompt that asks for no schema."""


class EchoPersona(Persona):
    """Answers every prompt with its last user turn, or with the simplest instance of the schema, which says it."""

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        return simplest(schema, prompt.last)

    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        return (Block(text=prompt.last),)


class SchemaPersona(Persona):
    """Answers with a random instance of the schema, or eight words without one; the same for the same prompt."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        return Maker(schema, generator(self._seed, "schema", prompt.digest)).make(schema)

    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        return (Block(text=" ".join(generator(self._seed, "schema", prompt.digest).choices(WORDS.split(), k=8))),)


class ReaderPersona(Persona):
    """Finds what stands in the prompt and its documents; says so when it does not."""

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
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


class ScriptRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which calls, and what happens to them."""

    do: tuple[str | Step, ...]
    contains: str | None = None
    custom_id: str | None = None
    model: str | None = None

    def fits(self, prompt: Prompt, custom_id: str | None) -> bool:
        """Whether this rule is about that call."""
        named = self.custom_id in (None, custom_id) and self.model in (None, prompt.model)
        return named and (self.contains is None or any(self.contains in turn.text for turn in prompt.turns))


class Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules, and who answers when nothing special happens."""

    rules: tuple[ScriptRule, ...]
    persona: str = "reader"


def load_script(path: str) -> Script:
    """Read a script file; what is wrong with it is a `SimulatorConfigError`."""
    try:
        script = msgspec.json.decode(Path(path).read_bytes(), type=Script)
    except (OSError, msgspec.DecodeError) as error:
        raise SimulatorConfigError(f"script {path}: {error}") from error
    if script.persona not in BUILT_IN:
        raise SimulatorConfigError(f"script {path}: persona must be reader, echo or schema, got {script.persona!r}")
    for number, rule in enumerate(script.rules):
        if not rule.do:
            raise SimulatorConfigError(f"script {path}: rule {number} does nothing; give `do` at least one step")
        for step in map(_as_step, rule.do):
            if step.kind not in KINDS | {"ok"}:
                known = ", ".join(sorted(KINDS | {"ok"}))
                raise SimulatorConfigError(f"script {path}: rule {number}: unknown step {step.kind!r}: one of {known}")
    return script


def _as_step(step: str | Step) -> Step:
    return Step(kind=step) if isinstance(step, str) else step


class ScriptPersona(Persona):
    """Answers like its base persona, except where the script says otherwise."""

    def __init__(self, script: Script, base: Persona) -> None:
        self._rules = script.rules
        self._base = base

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        return self._base.filled(schema, prompt)

    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        return self._base.words(prompt)

    def step(self, prompt: Prompt, custom_id: str | None, seen_before: int) -> Step | None:
        """The step of the first rule that fits, by how often the prompt was seen."""
        for rule in self._rules:
            if rule.fits(prompt, custom_id):
                return _as_step(rule.do[min(seen_before, len(rule.do) - 1)])
        return None


def persona_named(name: str, seed: int) -> Persona:
    """The persona behind an option string; a script that cannot be read is a `SimulatorConfigError`."""
    if name.startswith("script:"):
        script = load_script(name.removeprefix("script:"))
        return ScriptPersona(script, persona_named(script.persona, seed))
    if name == "schema":
        return SchemaPersona(seed)
    return EchoPersona() if name == "echo" else ReaderPersona()
