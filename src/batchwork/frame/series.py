"""The door for one series: data in, text, JSON or the whole description out."""

from dataclasses import dataclass
from typing import Any, Literal, overload

from batchwork.frame.analysis import analyse
from batchwork.frame.description import Description
from batchwork.frame.samples import FrameError, Samples, read_samples
from batchwork.frame.words import render

Output = Literal["text", "json", "full"]
_CHARACTERS_PER_TOKEN = 4.0


@overload
def describe_series(
    data: Any,
    context: str | None = None,
    output: Literal["text"] = "text",
    *,
    unit: str | None = None,
    times: Any = None,
) -> str: ...
@overload
def describe_series(
    data: Any, context: str | None = None, *, output: Literal["json"], unit: str | None = None, times: Any = None
) -> dict[str, Any]: ...
@overload
def describe_series(
    data: Any, context: str | None = None, *, output: Literal["full"], unit: str | None = None, times: Any = None
) -> Description: ...
def describe_series(
    data: Any, context: str | None = None, output: Output = "text", *, unit: str | None = None, times: Any = None
) -> str | dict[str, Any] | Description:
    """Describe a series of numbers: as text, as plain dictionaries for JSON, or as a typed `Description`.

    `data` is a list, a numpy array or a pandas, polars or arrow column; `times` (or a pandas datetime index)
    says when each value was taken. Indices in the answer are positions in `data`, counted from 0.

    Raises:
        FrameError: something in the data is not a number; the message says what and where.
    """
    if output not in ("text", "json", "full"):
        raise FrameError(f"output must be 'text', 'json' or 'full', got {output!r}")
    description = analyse(read_samples(data, times), context, unit)
    if output == "full":
        return description
    return render(description) if output == "text" else description.as_dict()


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """Tokens (characters / 4) of the raw numbers with six significant digits, and of the description."""

    raw_tokens: float
    text_tokens: float

    @property
    def saved(self) -> float:
        """The share of the tokens that the description saves."""
        return 1.0 - self.text_tokens / self.raw_tokens if self.raw_tokens > 0 else 0.0


def compression(data: Any) -> Compression:
    """How much shorter the description is than the numbers themselves, comma-separated."""
    samples = read_samples(data)
    text = render(analyse(samples))
    return Compression(raw_tokens=raw_tokens(samples), text_tokens=len(text) / _CHARACTERS_PER_TOKEN)


def raw_tokens(samples: Samples) -> float:
    """Tokens of the values written out, missing ones as nothing between their commas."""
    characters = sum(len(f"{value + samples.base:.6g}") for value in samples.values.tolist())
    return (characters + 2 * max(samples.length - 1, 0)) / _CHARACTERS_PER_TOKEN
