"""`batchwork demo`: a first minute without a key: a run, a kill, a resume, a budget and citations.

Every step is a command or a call that a user could type, against a simulated provider in this process. The numbers at
the end are the provider's own count of what it received and billed, each explained in one line.
"""

from __future__ import annotations

import json
import random
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from batchwork.core.errors import ConfigError
from batchwork.core.money import show
from batchwork.journal import JournalReader

if TYPE_CHECKING:
    from batchwork.simulator import Simulator

_COUNT, _FILES = 300, 3
_MODEL = "anthropic:claude-haiku-5-5"
_LITTLE, _ENOUGH = "0.0056", "1"  # dollars: too little for all invoices, and far more than enough
_AT_ONCE = 10
_OVERLOADED = 529
_FIELDS = {"invoice_number": "string", "company_name": "string", "total_amount": "number"}
_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": kind} for name, kind in _FIELDS.items()},
    "required": list(_FIELDS),
    "additionalProperties": False,
}
Keep = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Work in this new folder and keep it; else nothing is kept.")
]


def demo(keep: Keep = None) -> None:
    """A first minute without a key: a run is killed, resumed, stopped by its budget, finished, and cited.

    \b
    Examples:
      batchwork demo
      batchwork demo --keep demo-out
    """
    from batchwork.simulator import Simulator, SimulatorConfig  # noqa: PLC0415 - a server, for this alone

    config = SimulatorConfig.from_options(latency="0.05,0.6", faults="529=0.04", batch_time=0.5, seed=7)
    with ExitStack() as stack:
        if keep is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="batchwork-demo-")))
        else:
            folder = _made(keep)
        provider = stack.enter_context(Simulator(config))
        print("No key, no network, no language model: a simulated provider on loopback answers, which copies what")
        print(f"stands in the text it is sent. Everything is in {folder}{'' if keep else ', and removed at the end'}.")
        right = Demonstration(folder=folder, provider=provider).show()
    print(f"\nKept: {folder}" if keep else f"\nRemoved: {folder}. `batchwork demo --keep FOLDER` keeps it.")
    if not right:
        sys.exit("batchwork: error: the numbers do not add up; please report this with the output above")


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ConfigError(f"--keep {folder}: {error.strerror}; name a folder that is not there yet") from error
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """The steps, in their order."""

    folder: Path
    provider: Simulator

    def show(self) -> bool:
        """Take every step; whether the numbers add up."""
        _title("1. Sample data")
        invoices = [_invoice(number) for number in range(1, _COUNT + 1)]
        rows = ({"id": number, "text": text} for number, text in enumerate(invoices, 1))
        (self.folder / "invoices.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (self.folder / "schema.json").write_text(json.dumps(_SCHEMA, indent=2))
        print(f"invoices.jsonl: {_COUNT} short invoices as text. schema.json: the three fields to read from each.")
        _title("2. A run, killed with SIGKILL on its way: it has no chance to tidy up")
        self._batchwork(*self._run(_LITTLE), until=lambda: self._count("answered") >= _COUNT // 3)
        self._batchwork("status", "answers.jsonl.journal.db")
        print("Succeeded: these answers are on disk and are not asked for again. Pending: read, and not yet answered.")
        before = self._count("received")
        _title("3. The same command again: it goes on, until the budget does not cover another call")
        stopped = self._batchwork(*self._run(_LITTLE), shown=f"run ... --max-cost {_LITTLE}")
        print(f"Exit code {stopped}: stopped by the budget. Deferred is not failed: these wait for more money.")
        _title("4. The same command with more money: it sends those that wait, and nothing else")
        ended = self._batchwork(*self._run(_ENOUGH), shown=f"run ... --max-cost {_ENOUGH}")
        print(f"Exit code {ended}: all succeeded.")
        _title("5. What was sent and paid, as the provider counted it")
        right = self._account(before)
        _title("6. Typed answers, and where each stands in its document")
        return self._cite(invoices[:_FILES]) and right and (stopped, ended) == (3, 0)

    def _run(self, max_cost: str) -> list[str]:
        command = ["run", "invoices.jsonl", "-o", "answers.jsonl", "--model", _MODEL]
        command += ["--base-url", self.provider.anthropic_url, "--prompt", "{text}", "--schema", "schema.json"]
        return [*command, "--max-tokens", "60", "--max-in-flight", str(_AT_ONCE), "--max-cost", max_cost]

    def _batchwork(self, *arguments: str, shown: str | None = None, until: Callable[[], bool] | None = None) -> int:
        """Run the program as a user does, and kill it when `until` holds; prints its output, returns its exit code."""
        print(f"$ batchwork {shown or shlex.join(arguments)}", flush=True)
        command = [sys.executable, "-m", "batchwork", *arguments]
        with tempfile.TemporaryFile("w+") as output:
            # In a session of its own: Ctrl-C reaches this process alone, which then ends the other.
            process = subprocess.Popen(command, cwd=self.folder, stdout=output, stderr=output, start_new_session=True)  # noqa: S603
            try:
                while process.poll() is None and not (until is not None and until()):
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=0.05)
            finally:
                process.kill()  # nothing, where it has ended
                process.wait()
            output.seek(0)
            for line in output:
                print(f"    {line.rstrip()}")
        if process.returncode == -signal.SIGKILL:
            print("    Killed")
        return process.returncode

    def _count(self, what: str) -> int:
        return int(self.provider.log()["total"][what])

    def _account(self, before: int) -> bool:
        """Print every number with what it is; whether they add up."""
        log = self.provider.log()
        requests, total = log["requests"], log["total"]
        refused = sum(request["status"] == _OVERLOADED for request in requests)
        again = total["received"] - refused - _COUNT
        answers = [json.loads(line) for line in (self.folder / "answers.jsonl").read_text().splitlines()]
        with closing(JournalReader(self.folder / "answers.jsonl.journal.db")) as reader:
            booked = reader.totals()
        in_order = [answer["id"] for answer in answers] == list(range(1, _COUNT + 1))
        succeeded = sum(answer["status"] == "succeeded" for answer in answers)
        numbers: list[tuple[int | str, str]] = [
            (len(answers), f"rows in answers.jsonl, {'in' if in_order else 'NOT IN'} the order of the input"),
            (succeeded, "of them succeeded: their answers satisfy schema.json"),
            (total["received"], f"requests reached the provider, {before} before the kill and the rest after it:"),
            (_COUNT, "  one for each invoice,"),
            (refused, f"  refused by the provider as overloaded (HTTP {_OVERLOADED}), not billed, sent again,"),
            (again, f"  under way at the kill, their answers lost with the process, sent again (at most {_AT_ONCE})"),
            (total["billed"], "requests were billed, none of them for an answer that was already on disk"),
            (show(total["nano_dollars"]), "is the provider's bill"),
            (show(booked.spent_nano), "is what batchwork booked: the answers at their price, and"),
            (
                show(booked.unconfirmed_nano),
                "  unconfirmed, the calls cut off by the kill at their worst case: whether they",
            ),
            ("", "  reached the provider and were billed cannot be known from here"),
        ]
        for value, meaning in numbers:
            print(f"{value:>12}  {meaning}")
        return (
            (len(answers), succeeded, in_order) == (_COUNT, _COUNT, True)
            and 0 <= again <= _AT_ONCE
            and total["nano_dollars"] <= booked.spent_nano
        )

    def _cite(self, invoices: list[str]) -> bool:
        """Read files in the provider's batches, and show the place of every field; whether each quote is the text's."""
        from pydantic import create_model  # noqa: PLC0415

        from batchwork import BatchManager  # noqa: PLC0415

        names = [f"invoice-{number}.txt" for number in range(1, len(invoices) + 1)]
        for name, text in zip(names, invoices, strict=True):
            (self.folder / name).write_text(text)
        print(f"BatchManager(files={names}, prompt='Read this invoice',")
        print(f"    model='{_MODEL}', response_model=Invoice, enable_citations=True).run()  # batches: half the price")
        invoice = create_model("Invoice", invoice_number=(str, ...), company_name=(str, ...), total_amount=(float, ...))
        manager = BatchManager(
            files=[self.folder / name for name in names],
            prompt="Read this invoice",
            model=_MODEL,
            base_url=self.provider.anthropic_url,
            response_model=invoice,
            enable_citations=True,
            poll_interval=0.2,
        )
        quoted = 0
        with closing(manager.run()) as results:
            for name, text, result in zip(names, invoices, results, strict=True):
                for field, places in result.citations.items():
                    quote = text[places[0]["start"] : places[0]["end"]] if places else ""
                    quoted += bool(quote) and quote == places[0]["text"]
                    place = f"characters {places[0]['start']}-{places[0]['end']}" if places else "not found"
                    print(f"    {name}  {field:14} = {getattr(result.value, field)!s:20} {place}: {quote!r}")
        wanted = len(invoices) * len(_FIELDS)
        print(f"{quoted} of {wanted} fields are quoted from their document, character by character.")
        return quoted == wanted


def _title(text: str) -> None:
    print(f"\n{text}", flush=True)


def _invoice(number: int) -> str:
    """One invoice; the same for the same number."""
    draw = random.Random(number)
    company = (
        f"{draw.choice(('Alder', 'Birch', 'Cedar', 'Maple', 'Rowan'))} {draw.choice(('& Sons', 'Works', 'Trading'))}"
    )
    lines = [
        (draw.choice(("Paper", "Ink", "Folders", "Lamps")), draw.randint(1, 9), draw.randint(200, 9900)) for _ in "ab"
    ]
    items = "\n".join(f"{name}  {count} x {cents / 100:.2f}" for name, count, cents in lines)
    total = sum(count * cents for _, count, cents in lines) / 100
    return (
        f"INVOICE\nInvoice number: 2026-{number:04}\nCompany name: {company}\n\n{items}\n\nTotal amount: {total:.2f}\n"
    )
