"""Script: a file says what happens to which call.

A JSON file `{"persona": "echo", "rules": [{"contains": "pear", "do": ["429", "refusal", "ok"]}]}`. The first
rule that fits a call counts: `contains` looks in the prompt, `custom_id` and `model` must be equal, none of
them fits everything. `do` is taken one step per time that prompt is seen, the last step for ever after. A step
is a fault's name, `ok`, or `{"kind": ..., "text": ..., "json": ..., "delay_s": ...}`.
"""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.simulator.errors import SimulatorConfigError
from batchwork.simulator.faults import KINDS
from batchwork.simulator.personas.persona import Persona, Step
from batchwork.simulator.prompt import Block, Prompt


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which calls, and what happens to them."""

    do: tuple[str | Step, ...]
    contains: str | None = None
    custom_id: str | None = None
    model: str | None = None

    def fits(self, prompt: Prompt, custom_id: str | None) -> bool:
        """Whether this rule is about that call."""
        if self.custom_id is not None and self.custom_id != custom_id:
            return False
        if self.model is not None and self.model != prompt.model:
            return False
        return self.contains is None or any(self.contains in turn.text for turn in prompt.turns)


class Script(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules, and who answers when nothing special happens."""

    rules: tuple[Rule, ...]
    persona: str = "reader"


def load_script(path: str) -> Script:
    """Read and check a script file.

    Raises:
        SimulatorConfigError: it cannot be read, is not a script, or names an unknown fault.
    """
    try:
        script = msgspec.json.decode(Path(path).read_bytes(), type=Script)
    except (OSError, msgspec.DecodeError) as error:
        raise SimulatorConfigError(f"script {path}: {error}") from error
    if script.persona not in ("reader", "echo", "schema"):
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
        self._script = script
        self._base = base

    def filled(self, schema: dict[str, Any], prompt: Prompt) -> Any:
        """Like the base persona."""
        return self._base.filled(schema, prompt)

    def words(self, prompt: Prompt) -> tuple[Block, ...]:
        """Like the base persona."""
        return self._base.words(prompt)

    def step(self, prompt: Prompt, custom_id: str | None, seen_before: int) -> Step | None:
        """The step of the first rule that fits, by how often the prompt was seen."""
        for rule in self._script.rules:
            if rule.fits(prompt, custom_id):
                return _as_step(rule.do[min(seen_before, len(rule.do) - 1)])
        return None
