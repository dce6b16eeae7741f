"""The bill of one journal that is written, gone over again and read: a child process of perf.scale."""

from __future__ import annotations

import json
import resource
import sys
import time
from contextlib import closing

from batchwork.core.event import Admitted, Began, Ended, Settled
from batchwork.core.intake import Intake
from batchwork.core.outcome import Succeeded
from batchwork.core.ports import ForeseeingJournal
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.journals import journal_address, open_journal, open_reader

BEGAN = Began(run_id="perf", model="mock:echo")


def main(address: str, count: int, window: int, phases: str = "write,resume,read") -> None:
    """Place, admit and settle so many items in groups of a window's size; then resume, then read them all."""
    where = journal_address(address)
    told: dict[str, float] = {"groups": 2.0 * -(-count // window)}
    for phase in phases.split(","):
        began, cpu = time.perf_counter(), time.process_time()
        if phase == "read":
            with closing(open_reader(where)) as reader:
                assert sum(1 for _ in reader.entries()) == count
        else:
            _run(where, count, window)
        told[f"{phase}_s"], told[f"{phase}_cpu_s"] = time.perf_counter() - began, time.process_time() - cpu
    told["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(told))


def _run(where: object, count: int, window: int) -> None:
    with closing(open_journal(where, utc=time.time, max_wait_s=60.0)) as journal:  # type: ignore[arg-type]
        journal.begin(BEGAN)
        for start in range(0, count, window):
            todo = []
            rows = [_row(place) for place in range(start, min(start + window, count))]
            if isinstance(journal, ForeseeingJournal):
                journal.foresee(rows)
            for place, row in enumerate(rows, start):
                state = journal.place(place, row)
                if state.status == "pending":
                    journal.record(Admitted(item=state.item, reserved_nano=100))
                    todo.append((place, state.item))
            if todo:
                journal.flush()
            for place, item in todo:
                reply = Reply(text="Paris, by history.", usage=Usage(input_tokens=30, output_tokens=20))
                outcome = Succeeded(index=place, reply=reply, attempts=1, cost_nano=11)
                journal.record(Settled(item=item, outcome=outcome, charged_nano=11))
            if todo:
                journal.flush()
            for _, item in todo:
                journal.release(item)
        journal.record(Ended(inputs=count))


def _row(place: int) -> Intake:
    request = Request.ask(f"What is the capital of country {place}, and why?", model="mock:echo")
    return Intake(fingerprint=request.fingerprint, request=request, columns=None)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
