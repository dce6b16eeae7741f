"""Read a JSON body, or refuse it."""

from collections.abc import Callable
from typing import Any

import msgspec

from batchwork.simulator.errors import Refused
from batchwork.simulator.prompt import Prompt


def decoded(raw: bytes) -> Any:
    """A JSON body.

    Raises:
        Refused: 400, it is not JSON or is nested too deeply to be read.
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(400, f"The request body is not valid JSON: {error}") from None
    except RecursionError:
        raise Refused(400, "The request body is nested too deeply") from None


def parsed(parse: Callable[[], Prompt]) -> Prompt:
    """A prompt out of a body; a value of a shape nobody expects there is the caller's mistake, not ours.

    Raises:
        Refused: 400.
    """
    try:
        return parse()
    except RecursionError:
        raise Refused(400, "The request body is nested too deeply") from None
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise Refused(400, f"The request body has a value of an unexpected type: {error}") from None


def stop_sequences(given: Any, name: str) -> tuple[str, ...]:
    """The texts an answer ends at.

    Raises:
        Refused: 400, something else than a list of strings.
    """
    if not given:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise Refused(400, f"{name}: Input should be a valid list of strings")
    return tuple(given)
