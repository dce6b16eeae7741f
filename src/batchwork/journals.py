"""Opens the journal at an address: a file, or a schema in a database. The only place that tells the two apart.

What a database needs is imported when an address of one is opened.
"""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from batchwork.core.block import SharedInput
from batchwork.core.dsn import Dsn, JournalAddress, is_dsn
from batchwork.core.errors import JournalError, JournalLockedError
from batchwork.journal import (
    LARGE_PAGE_BYTES,
    PAGE_BYTES,
    JournalReader,
    SqliteJournal,
    journal_at,
    known_as,
    new_output,
    remember_output,
    set_aside,
)
from batchwork.journal.atomic import sync_folder

T = TypeVar("T")


def journal_address(given: str | JournalAddress) -> JournalAddress:
    """What somebody means by the name of a journal: a database by its scheme, else a file. ConfigError: neither."""
    if not isinstance(given, str):
        return given
    return Dsn.parse(given) if is_dsn(given) else Path(given)


def named_journal(given: str | JournalAddress) -> JournalAddress:
    """The same, where an output file or a state file stands for the journal beside it."""
    address = journal_address(given)
    return journal_at(address) if isinstance(address, Path) else address


def open_reader(address: JournalAddress, *, pinned: bool = False) -> JournalReader:
    """A read-only view of a journal; a JournalError says why there is none."""
    if isinstance(address, Path):
        return JournalReader(address, pinned=pinned)
    from batchwork.postgres.reader import DatabaseReader  # noqa: PLC0415 - its driver is an extra

    return DatabaseReader(address, pinned=pinned)


def open_journal(
    address: JournalAddress,
    *,
    utc: Callable[[], float],
    max_wait_s: float,
    shares: bool = False,
    joins: bool = False,
    follows: bool = False,
    in_batches: bool = False,
    shared_input: SharedInput | None = None,
    holds_vectors: bool = False,
) -> SqliteJournal:
    """A journal that this process writes; for so long it waits for a database that is away.

    One in a database that has an owner already is joined, where the caller `shares` it; whoever `joins` is never the
    owner, unless it places rows of a `shared_input`, as all the others do. Whoever `follows` has helped the owner
    before, and must have the same input. `in_batches`: the run goes through provider batches. A new file that
    `holds_vectors` gets larger pages, and they have a file beside it.
    """
    if isinstance(address, Path):
        page_bytes = LARGE_PAGE_BYTES if holds_vectors else PAGE_BYTES
        return SqliteJournal(address, utc=utc, page_bytes=page_bytes, vectors_apart=holds_vectors)
    if shared_input is not None:
        from batchwork.postgres.keyed_journal import KeyedJournal  # noqa: PLC0415

        return KeyedJournal(address, shared_input, utc=utc, max_wait_s=max_wait_s)
    from batchwork.postgres.journal import JoinedJournal, PostgresJournal  # noqa: PLC0415

    if not joins:
        try:
            return PostgresJournal(
                address, utc=utc, max_wait_s=max_wait_s, shares=shares, follows=follows, in_batches=in_batches
            )
        except JournalLockedError:
            if not shares:
                raise
    return JoinedJournal(address, utc=utc, max_wait_s=max_wait_s, in_batches=in_batches)


def is_there(address: JournalAddress) -> bool:
    """Whether there is a journal, or at least something of its name."""
    if isinstance(address, Path):
        return address.exists()
    from batchwork.postgres.connection import connect_reader, in_our_words  # noqa: PLC0415
    from batchwork.postgres.schema import is_there as has_schema  # noqa: PLC0415

    with in_our_words(address), closing(connect_reader(address)) as connection:
        return has_schema(connection, address)


def put_aside(address: JournalAddress) -> JournalAddress | None:
    """Give an old journal another name; None when there is none."""
    if isinstance(address, Path):
        return set_aside(address)
    from batchwork.postgres.archive import set_aside as rename  # noqa: PLC0415

    return rename(address)


# -- the files that a journal wrote ---------------------------------------------------------------


def output_name(out: Path, address: JournalAddress) -> str:
    """What a journal calls a file; one in a database has no folder of its own."""
    return known_as(out, address) if isinstance(address, Path) else str(out.resolve())


def note_output(address: JournalAddress, out: Path, *, was: Path | None = None) -> bool:
    """Note the file as this journal's own, as it is now; False: a run is going on, and nobody else may write there."""
    try:
        if isinstance(address, Path):
            remember_output(address, out, was=was)
        else:
            from batchwork.postgres.archive import remember_output as remember  # noqa: PLC0415

            remember(address, out, was=was)
    except JournalLockedError:
        return False
    return True


def write_output(address: JournalAddress, out: Path, write: Callable[[Path], T]) -> tuple[T, bool]:
    """Have `write` make the file `out`; what it returned, and whether the journal could note the file as its own.

    Where it could, it knows the file at every moment, should the process be killed.
    """
    new = new_output(out)
    try:
        if out.exists():  # as private as what it will replace
            new.touch(0o600)
            shutil.copymode(out, new)
        made = write(new)
        note_output(address, new)
        new.replace(os.path.realpath(out))
    finally:
        new.unlink(missing_ok=True)
    sync_folder(new.parent)
    return made, note_output(address, out, was=new)


def wrote(address: JournalAddress, out: Path) -> bool:
    """Whether a file is just as this journal wrote it."""
    if not is_there(address):
        return False
    seen = out.stat()
    with closing(open_reader(address)) as reader:
        written = [(path.resolve(), size, mtime_ns) for path, size, mtime_ns in reader.outputs()]
    return (out.resolve(), seen.st_size, seen.st_mtime_ns) in written


def in_a_file(address: JournalAddress, command: str) -> Path:
    """The file of a journal, for what only files need; a database has its own means to be copied and mended."""
    if isinstance(address, Path):
        return address
    raise JournalError(
        f"`batchwork {command}` is for journals in files, and {address} is in a database: pg_dump"
        f" --schema='\"{address.schema}\"' copies it, pg_restore brings it back; `batchwork copy` makes a file of it"
    )
