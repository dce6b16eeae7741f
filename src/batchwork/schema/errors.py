"""The one error of this room: a schema that cannot be used, and where in it."""

from batchwork.core.errors import ConfigError


class SchemaError(ConfigError):
    """A JSON schema that cannot be used; `place` is the JSON pointer of the part that stands in the way."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"JSON schema, at {place or 'the root'}: {problem}")
        self.place = place
        self.problem = problem
