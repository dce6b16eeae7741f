"""Choose a persona by its name."""

from batchwork.simulator.personas.echo import EchoPersona
from batchwork.simulator.personas.literal import ReaderPersona
from batchwork.simulator.personas.persona import Persona
from batchwork.simulator.personas.random_schema import SchemaPersona
from batchwork.simulator.personas.script import ScriptPersona, load_script


def persona_named(name: str, seed: int) -> Persona:
    """The persona behind an option string.

    Raises:
        SimulatorConfigError: its script cannot be read.
    """
    if name.startswith("script:"):
        script = load_script(name.removeprefix("script:"))
        return ScriptPersona(script, persona_named(script.persona, seed))
    if name == "echo":
        return EchoPersona()
    if name == "schema":
        return SchemaPersona(seed)
    return ReaderPersona()
