"""Write a file whole or not at all."""

from pathlib import Path


def write_whole(path: Path, body: bytes) -> None:
    """Put `body` at `path`, written aside and renamed, so that no half of it is ever seen.

    Raises OSError: the folder cannot be written, or there is no space.
    """
    aside = path.with_name(f".{path.name}.part")
    try:
        aside.write_bytes(body)
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
