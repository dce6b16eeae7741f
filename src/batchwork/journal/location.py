"""Which journal a path means: a journal's own, that of an output file, or that of a state file."""

from pathlib import Path

from batchwork.core.errors import ConfigError
from batchwork.journal.companions import LOG, beside


def journal_of_output(output: Path) -> Path:
    """Where the journal of an output file is, unless somebody has said otherwise. A folder is a ConfigError."""
    if not output.name:
        raise ConfigError(f"{output} is a folder, not a file for results")
    return output.with_name(output.name + ".journal.db")


def journal_of_state(state: Path) -> Path:
    """Where the journal of a state file is."""
    return state.with_name(state.name + ".journal")


def journal_at(path: Path) -> Path:
    """The journal at a path: the one beside an output or a state file, or else the file itself.

    The file is not looked into: where this process has it open, closing it would let go of its lock.

    Raises:
        ConfigError: there are two beside it, or it is a folder.
    """
    if path.is_dir():
        raise ConfigError(f"{path} is a folder: name a journal, an output file or a state file in it")
    known = (journal_of_output(path), journal_of_state(path))
    found = [journal for journal in known if journal.exists() or beside(journal, LOG).exists()]
    if len(found) > 1:
        raise ConfigError(f"{path} has two journals beside it, {found[0].name} and {found[1].name}: name one of them")
    return found[0] if found else path
