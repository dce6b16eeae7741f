"""Read a JSON body, or refuse it."""

from typing import Any

import msgspec

from batchwork.simulator.errors import Refused


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
