"""The simulator's own errors: a wrong configuration, and a refusal to be put on the wire."""

from dataclasses import KW_ONLY, dataclass


class SimulatorConfigError(ValueError):
    """A setting of the simulator that cannot be; the message names the value and the remedy."""


@dataclass(eq=False)
class Refused(Exception):
    """A request that the provider answers with an error.

    Raised wherever a call is read or carried out; `Calls` and `Table` put it on the wire. `type` and `code` are
    the provider's own words for it; `param` is OpenAI's.
    """

    status: int
    message: str
    _: KW_ONLY
    type: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    retry_after_s: float | None = None


def refuse_if(wrong: object, message: str) -> None:
    """Answer 400 with this message when something is wrong."""
    if wrong:
        raise Refused(400, message)
