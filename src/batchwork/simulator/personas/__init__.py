"""Who answers: `reader`, `echo`, `schema` or `script:FILE`."""

from batchwork.simulator.personas.built_in import EchoPersona, ReaderPersona, SchemaPersona
from batchwork.simulator.personas.persona import Persona, Step
from batchwork.simulator.personas.script import ScriptPersona, load_script

__all__ = ["Persona", "Step", "persona_named"]


def persona_named(name: str, seed: int) -> Persona:
    """The persona behind an option string.

    Raises:
        SimulatorConfigError: its script cannot be read.
    """
    if name.startswith("script:"):
        script = load_script(name.removeprefix("script:"))
        return ScriptPersona(script, persona_named(script.persona, seed))
    if name == "schema":
        return SchemaPersona(seed)
    return EchoPersona() if name == "echo" else ReaderPersona()
