"""`batchwork describe`: a column of numbers in words."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from batchwork.core.errors import ConfigError


def describe(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A CSV file with a header.")],
    column: Annotated[str | None, typer.Option(metavar="C", help="Only this column.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Every number, as JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="OUT.png", help="Also draw it.")] = None,
) -> None:
    """Describe the numbers in a file in a few true words: level, spread, trend, season, steps, odd points.

    \b
    Examples:
      batchwork describe flow.csv
      batchwork describe flow.csv --column level --json --plot flow.png
    """
    try:
        from batchwork import frame  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError("describing numbers needs numpy and scipy: pip install 'batchwork[frame]'") from error
    try:
        described = frame.describe_file(file, column=column)
        if plot is not None:
            frame.plot(described.values, plot, description=described.description, title=described.column)
    except (frame.FrameError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(error)) from error
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(described.description.as_dict()), indent=2).decode())
    else:
        print(frame.render(described.description))
