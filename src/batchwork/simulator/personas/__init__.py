"""Who answers: `reader`, `echo`, `schema` or `script:FILE`."""

from batchwork.simulator.personas.cast import persona_named
from batchwork.simulator.personas.persona import Persona, Step

__all__ = ["Persona", "Step", "persona_named"]
