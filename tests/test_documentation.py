"""README and docs do what they say: their commands and snippets are executed in order, in an empty folder per page.

A provider on loopback answers, without a key. A page's shell blocks share a folder, exported variables and what they
leave running; its Python blocks share their names. What is not executed stands in `NOT_RUN`, with the reason.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tomllib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import pack
from typing import Any

import pytest
import typer

from batchwork.benchmarks.arguments import parser as bench_parser
from batchwork.cli import app
from batchwork.simulator import Simulator, SimulatorConfig
from examples.pdf_writer import Page, pdf_bytes
from tests.support.program import Program

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# What a command or snippet contains, and why it is not executed here.
NOT_RUN = {
    "pip install": "installs from a package index",
    "make ": "make targets set up an environment; CI runs `make test`, and `make demo` takes a minute",
    "batchwork demo": "tests/cli/test_demo.py runs it, and looks at its numbers",
    "--backend claude-code": "needs the claude program and its login; tests/backends has a stand-in for it",
    "claude -p": "the same",
    "--backend local": "needs a model file of 93 MB; `make smoke-real` asks it",
    "--backend api --parallel --format all": "the full suite of 360 calls: more than a minute on a busy machine",
    "postgresql://db.example": "needs a database; tests/test_journals.py gives the commands one",
    "batchwork account": "needs a database; tests/postgres/test_shared_accounts.py gives the command one",
    "--account": "the same",
    "http://localhost:11434": "needs servers by Ollama and vLLM, and keys of Groq and Azure",
}
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$|^\|[^\n]*\| `(batchwork [^`]+)` \|$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(batchwork [a-z]+[^`]*)`")
_EXIT_CODE = re.compile(r"# exit code (\d+)")
_LONGEST_S = 300.0


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks, and the commands that end a row of a table, in their order."""
    found = _FENCE.finditer(page.read_text())
    return [Block("sh", one[3]) if one[3] else Block(one[1], one[2]) for one in found]


def commands_of(script: str) -> list[str]:
    """The commands of a shell block, each whole: with its continuation lines, or its here-document."""
    commands: list[str] = []
    open_until: str | None = None
    for line in script.splitlines():
        if open_until is not None or (commands and commands[-1].endswith("\\")):
            commands[-1] += f"\n{line}"
            open_until = None if line == open_until else open_until
        elif line.strip() and not line.startswith("#"):
            commands.append(line)
            here = re.search(r"<<'?(\w+)'?$", line)
            open_until = here[1] if here else None
    return commands


def left_out(text: str) -> bool:
    return any(part in text for part in NOT_RUN)


@dataclass(slots=True)
class Reader:
    """Somebody who follows a page."""

    folder: Path
    environment: dict[str, str]
    ports: dict[str, int] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)
    sessions: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def follow(self, block: Block) -> str | None:
        """Do what a block says; what went wrong in its commands, if anything did."""
        if block.language in ("sh", "bash"):
            commands = [command for command in commands_of(block.text) if not left_out(command)]
            return self.type(commands) if commands else None
        if block.language == "python" and not left_out(block.text):
            self.execute(block.text)
        elif block.language in ("json", "toml"):
            (json.loads if block.language == "json" else tomllib.loads)(block.text)
        return None

    def type(self, commands: list[str]) -> str | None:
        """Run commands in a shell that has what earlier ones exported."""
        variables, output = (self.folder.parent / f"{name}-{len(self.sessions)}" for name in ("variables", "output"))
        lines = [line for command in commands for line in (*self._typed(command), "")]
        script = "\n".join(["set -eu", *lines, f"env -0 > {variables}"])
        with output.open("w") as written:
            shell = subprocess.Popen(
                ["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=written, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self.sessions.append(shell)
        if shell.wait(_LONGEST_S) != 0:
            return f"{script}\n\n{output.read_text()}"
        pairs = variables.read_text().rstrip("\0").split("\0")
        self.environment = dict(pair.split("=", 1) for pair in pairs)
        return None

    def _typed(self, command: str) -> Iterator[str]:
        """A command as it is typed here: on ports that are free, waiting until what it leaves running listens."""
        expected = _EXIT_CODE.search(command)
        command = re.sub(r"batchwork simulate(?! --port)", "batchwork simulate --port 8765", command)
        command = re.sub(r"batchwork serve (?!--new-key)(?!.*--port)", "batchwork serve --port 8000 ", command)
        command = command.replace("0.0.0.0", "127.0.0.1")
        for port in dict.fromkeys(re.findall(r"(?:--port |127\.0\.0\.1:)(\d{4})\b", command)):
            command = command.replace(port, str(self.ports.setdefault(port, free_port())))
        if expected:
            yield f"code=0; {command.partition('  #')[0]} || code=$?; test $code = {expected[1]}"
            return
        yield command
        listens = re.search(r"--port ([1-9]\d+)", command)
        if listens and re.search(r"&\s*(#.*)?$", command):
            yield f"until (exec 3<>/dev/tcp/127.0.0.1/{listens[1]}) 2> /dev/null; do sleep 0.05; done"

    def execute(self, source: str) -> None:
        """Run a snippet among the names that earlier ones left; one that awaits runs in an event loop."""
        code = compile(source, "snippet", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.setenv("ANTHROPIC_BASE_URL", self.environment["ANTHROPIC_BASE_URL"])
            patch.delenv("ANTHROPIC_API_KEY", raising=False)
            if code.co_flags & inspect.CO_COROUTINE:
                asyncio.run(eval(code, self.names))
            else:
                exec(code, self.names)

    def close(self) -> None:
        for name in ("results", "again"):  # what a reader's process closes by its end
            if hasattr(self.names.get(name), "close"):
                self.names[name].close()
        for session in self.sessions:
            try:
                os.killpg(session.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def reader(program: Program, tmp_path: Path) -> Iterator[Reader]:
    folder = tmp_path / "empty"
    folder.mkdir()
    with Simulator(SimulatorConfig.from_options(batch_time=0.2)) as provider:
        environment = {
            "PATH": f"{program.bin}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "NO_COLOR": "1",
            "ANTHROPIC_BASE_URL": provider.anthropic_url,
        }
        somebody = Reader(folder, environment)
        try:
            yield somebody
        finally:
            somebody.close()


def png() -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return pack(">I", len(body)) + kind + body + pack(">I", zlib.crc32(kind + body))

    pixels = zlib.compress(b"\0\xff\xff\xff")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + chunk(b"IDAT", pixels)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.name)
def test_a_page_can_be_followed(page: Path, reader: Reader) -> None:
    if page.name == "backends.md":  # which speaks of the reader's own files
        (reader.folder / "photo.png").write_bytes(png())
        sheet = Page()
        sheet.text(72, 72, "A contract")
        (reader.folder / "contract.pdf").write_bytes(pdf_bytes([sheet]))
    for block in blocks_of(page):
        assert reader.follow(block) is None


def test_what_is_not_run_is_still_there() -> None:
    texts = [block.text for page in PAGES for block in blocks_of(page) if block.language in ("sh", "bash", "python")]
    assert not [part for part in NOT_RUN if not any(part in text for text in texts)]


def test_a_command_in_running_text_has_the_options_that_it_names() -> None:
    known = typer.main.get_command(app)
    options = {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in known.commands.items()  # type: ignore[attr-defined]
    }
    for name, group in known.commands.items():  # type: ignore[attr-defined]
        for command in getattr(group, "commands", {}).values():
            options[name] |= {option for parameter in command.params for option in parameter.opts}
    options["bench"] = {option for action in bench_parser()._actions for option in action.option_strings}
    wrong = [
        (page.name, named)
        for page in PAGES
        for named in _INLINE.findall(page.read_text())
        if named.split()[1] not in options
        or not set(re.findall(r"(?<!\S)--[a-z-]+", named)) <= options[named.split()[1]] | {"--help"}
    ]
    assert not wrong


def test_one_model_stands_for_all_in_the_examples() -> None:
    named = {
        name
        for page in PAGES
        for block in blocks_of(page)
        for name in re.findall(r"(?:--model |model=\")([\w:.-]*(?:claude|gpt)[\w:.-]*)", block.text)
    }
    assert named == {"anthropic:claude-haiku-5-5"}
