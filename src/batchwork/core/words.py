"""Words for people: numbers with their nouns, and what each door calls the things that a remedy names.

A remedy is written once, with names in braces: `{again}` and the other fields of a `Door`, or the name of an option
(`{max_wait}`). The door at hand puts its own words there, so that nobody is sent to an option that is not there.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from batchwork.core.dsn import JournalAddress


def counted(count: int, noun: str, nouns: str | None = None) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def sentence(text: str) -> str:
    """A text that somebody else wrote, with a full stop unless it ends like a sentence already."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def or_list(names: list[str], *, word: str = "or") -> str:
    """`a, b or c`."""
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def and_list(names: list[str]) -> str:
    """`a, b and c`."""
    return or_list(names, word="and")


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """One way in, in its own words."""

    again: str  # how a run is gone on with
    kept: str  # what becomes of what is finished
    corrected: str  # how corrected inputs are asked
    retry: str  # how failed items are sent again
    more_money: str  # how deferred items are taken up
    is_command: bool = False

    def words(self, remedy: str) -> str:
        """A remedy as this door says it."""
        return remedy.format_map(self)

    def reason(self, text: str) -> str:
        """A reason as this door says it: somebody else's words may stand in it, braces and all."""
        return text.replace("{max_wait}", self["max_wait"].rstrip("="))

    def with_money(self, accounts: Sequence[str], *, has_ceiling: bool) -> str:
        """How deferred items are taken up, of a run with these shared `accounts` and perhaps a ceiling of its own."""
        if not accounts:
            return self.more_money
        noun = "account" if len(accounts) == 1 else "accounts"
        more = f"when the shared {noun} {and_list(list(accounts))} can pay"
        return f"{self.more_money}, or {more}," if has_ceiling else f"{self.again} {more}"

    def __getitem__(self, name: str) -> str:
        if name in self.__slots__:
            return str(getattr(self, name))
        return f"--{name.replace('_', '-')}" if self.is_command else f"{name}="


def command_line(journal: JournalAddress | str) -> Door:
    """`batchwork run` on this journal."""
    return _commands(journal, again="run the same command again")


def journal_commands(journal: JournalAddress | str, *, source: str | None) -> Door:
    """The commands that are given nothing but this journal, of a run over `source`: None where it had no name."""
    run = "start the same run again on this journal"
    return _commands(
        journal, again=run if source is None else f"run the same `batchwork run {shlex.quote(source)} ...`"
    )


def _commands(journal: JournalAddress | str, *, again: str) -> Door:
    return Door(
        again=again,
        kept="what is finished is kept",
        corrected=again,
        retry=f"`batchwork retry {shlex.quote(str(journal))}`",
        more_money=f"{again} with a higher --max-cost",
        is_command=True,
    )


PYTHON = Door(
    again="make the same call again on the same journal",
    kept="what is finished is kept",
    corrected="make the same call again on the same journal",
    retry="the same call with retry_failed=True",
    more_money="make the same call again with a higher max_cost=",
)
IN_MEMORY = Door(
    again="make the call again",
    kept="what is finished stands in `results` alone; with journal= a later call goes on from it",
    corrected="make the call again with these alone",
    retry="a call with these alone",
    more_money="make a call with the rest and a higher max_cost=",
)
ATTACHED = Door(
    again="call BatchJob.attach() again",
    kept="the batch stays at the provider",
    corrected="call batch() with these alone",
    retry="batch() with these alone",
    more_money="call batch() with the rest and a higher max_cost=",
)


def manager_door(state: JournalAddress | None) -> Door:
    """A BatchManager with this state file, or this database."""
    return Door(
        again="call run() again" if state is None else f"call run() again on {state}",
        kept="what is finished is kept" + (" while this manager lives; state_path= keeps it longer" * (state is None)),
        corrected="call retry_failed() (corrected messages need a manager of their own)",
        retry="retry_failed()",
        more_money="make the manager again with a higher max_cost= and call run()",
    )
