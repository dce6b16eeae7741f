"""The simulator's own errors: a wrong configuration, and a refusal to be put on the wire."""


class SimulatorConfigError(ValueError):
    """A setting of the simulator that cannot be; the message names the value and the remedy."""


class Refused(Exception):
    """A request the provider answers with an error.

    `type` and `code` are the provider's own words for it; `param` is OpenAI's.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "invalid_request_error",  # noqa: A002 - the wire's own word
        code: str | None = None,
        param: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.type = type
        self.code = code
        self.param = param
        self.retry_after_s = retry_after_s


def refuse_if(wrong: object, message: str) -> None:
    """Answer 400 with this message when something is wrong.

    Raises:
        Refused: it is.
    """
    if wrong:
        raise Refused(400, message)
