"""How the `claude` program is called: its arguments, its environment, its prompt, and the folder it runs in."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from batchwork.backends._content import Piece, as_blocks, document_text, leading_system, piece_from, piece_of
from batchwork.backends._failures import bad_input
from batchwork.core.money import to_dollars
from batchwork.core.request import Request
from batchwork.settings import Settings

_LONGEST_ARGUMENT = 100_000  # the system takes 128 KiB for one argument
# Without one the program puts its own in place: thousands of tokens about writing software.
NO_SYSTEM = "Answer the user."
_EXTRA = ("effort", "max_thinking_tokens")
_PREFIX = "batchwork-claude-"
_LOCK = "lock"
_QUIET = {
    "CLAUDE_CODE_MAX_RETRIES": "0",  # who retries, and when, is not the program's to decide
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
}


def arguments(model: str, request: Request, system: Path, ceiling_nano: int | None) -> list[str]:
    """Everything after the program's name, the system prompt in a file; what it cannot be told is a `BackendError`."""
    if request.sampling:
        bad_input(f"the claude program takes no sampling parameters: leave {next(iter(request.sampling))!r} out")
    extra = request.extra_body or {}
    if unknown := [name for name in extra if name not in _EXTRA]:
        bad_input(f"the claude program has no way to be told {unknown[0]!r}; extra_body may hold {', '.join(_EXTRA)}")
    # The answer comes as all messages, not only the last: at max_tokens the program goes on by itself in a new one.
    options = ["-p", "--output-format", "json", "--verbose", "--model", model, "--tools", ""]
    options += ["--no-session-persistence", "--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"]
    options += ["--system-prompt-file", str(system)]
    if request.schema is not None:
        schema = msgspec.json.encode(request.schema.body).decode()
        if len(schema.encode()) > _LONGEST_ARGUMENT:
            bad_input(f"the schema is {len(schema):,} characters long, too long for the claude program")
        options += ["--json-schema", schema]
    if "effort" in extra:
        options += ["--effort", str(extra["effort"])]
    if ceiling_nano is not None:
        options += ["--max-budget-usd", f"{to_dollars(ceiling_nano):f}"]
    return options


def environment(settings: Settings, *, base_url: str | None, api_key: str | None) -> dict[str, str]:
    """What the program sees, built from nothing.

    An API key passes only beside a base URL or when asked for: a stray one would silently switch the bill
    from the user's subscription to the API.
    """
    env = {**settings.program_environment, **_QUIET}
    address = base_url or settings.addresses.get("anthropic")
    if address is not None:
        env["ANTHROPIC_BASE_URL"] = address
    if api_key is None and (address is not None or settings.claude_with_key):
        api_key = settings.keys.get("anthropic")
    if api_key is not None:
        env["ANTHROPIC_API_KEY"] = api_key
        env.pop("CLAUDE_CODE_OAUTH_TOKEN", None)
    return env


def call_environment(env: Mapping[str, str], request: Request) -> dict[str, str]:
    """The environment of one call: the limits of a request have no other way in."""
    thinking = (request.extra_body or {}).get("max_thinking_tokens", 0)
    return {**env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(request.output_bound), "MAX_THINKING_TOKENS": str(thinking)}


def system_of(request: Request) -> str:
    """The system prompt, with the system turns at the start of the conversation."""
    turns = [_text(turn.content) for turn in leading_system(request.messages)[0]]
    return "\n\n".join([request.system, *turns] if request.system else turns)


def prompt_of(request: Request) -> str:
    """What goes to standard input: one question as it is, a conversation as a transcript; never anything but text."""
    turns = leading_system(request.messages)[1]
    attached = [_document(piece_from(document)) for document in request.documents]
    if len(turns) == 1:
        texts = [_text(turns[0].content)]
    else:
        texts = [f"{turn.role.capitalize()}: {_text(turn.content)}" for turn in turns]
    prompt = "\n\n".join([*attached, *texts])
    if not prompt.strip():
        bad_input("the claude program takes no empty prompt")
    return prompt


def _text(content: str | list[dict[str, Any]]) -> str:
    parts = []
    for block in as_blocks(content):
        piece = piece_of(block)
        if piece is not None:
            parts.append(_document(piece))
        elif block.get("type") == "text":
            parts.append(str(block.get("text", "")))
        else:
            bad_input(f"the claude program is given text alone here, not a block of type {block.get('type')!r}")
    return "\n\n".join(parts)


def _document(piece: Piece) -> str:
    if piece.text is None:
        bad_input(f"the claude program is given text alone here, not {piece.media_type}: send its text")
    if piece.citations:
        bad_input("citations by the provider exist at Anthropic's API alone: leave them off for this model")
    return document_text(piece)


class Folder:
    """An empty folder to run in, so that nothing lying about is read; and a place beside it for system prompts.

    A system prompt goes by file, because arguments can be read by everybody on the machine in the list of processes.
    The folder and the files are their owner's alone. A file goes when its call ends, the folder with the backend; what
    a killed process left behind goes when the next one starts, which knows it by a lock that nobody holds any more.
    """

    def __init__(self) -> None:
        _remove_left_behind()
        self._home = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self._home / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.empty = self._home / "empty"
        self.empty.mkdir(mode=0o700)

    @contextmanager
    def file_of(self, text: str) -> Iterator[Path]:
        """A file that holds this text as long as the call lasts."""
        descriptor, name = tempfile.mkstemp(dir=self._home)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        try:
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)

    def remove(self) -> None:
        """Clean up."""
        shutil.rmtree(self._home, ignore_errors=True)
        os.close(self._lock)


def _remove_left_behind() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # somebody else's, in use, or gone meanwhile
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
