"""Kill a run half-way, run the same command again, and see that nothing is lost and nothing settled is sent twice.

1,000 prompts go to a flaky, rate-limited mock (no key, no network, no language model). The process is killed with
SIGKILL in the middle: it gets no chance to clean up. The same command is then run again.
"""

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROWS = 1_000
MODEL = "mock:echo?latency=0.05&sigma=0.6&faults=server:0.05,overloaded:0.05&rpm=9000&seed=7"


def main() -> None:
    """The demonstration, from the first row to the accounting."""
    with tempfile.TemporaryDirectory(prefix="batchwork-demo-") as folder:
        demonstrate(Path(folder))


def demonstrate(folder: Path) -> None:
    """Run, kill, run again, check."""
    rows, out, calls = folder / "rivers.jsonl", folder / "answers.jsonl", folder / "calls.log"
    rows.write_text("".join(json.dumps({"id": i, "river": f"river number {i}"}) + "\n" for i in range(ROWS)))
    command = [sys.executable, "-m", "batchwork", "run", rows.name, "-o", out.name]
    command += ["--model", f"{MODEL}&log={calls.name}", "--prompt", "Where does {river} rise?"]
    command += ["--max-cost", "1.00", "--price", "0.10,0.50"]

    print(f"$ batchwork {' '.join(command[3:])}")
    process = subprocess.Popen(command, cwd=folder)
    while not calls.exists() or calls.read_bytes().count(b"\n") < ROWS // 2:
        if process.poll() is not None:
            sys.exit("the run ended before it could be killed")
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    print("\n--- killed with SIGKILL half-way ---\n")
    journal = out.name + ".journal.db"
    subprocess.run([sys.executable, "-m", "batchwork", "status", journal], cwd=folder, check=True)
    before = calls.read_text().split()

    print("\n--- the same command again ---\n")
    ended = subprocess.run(command, cwd=folder, check=False).returncode
    check(out, before, calls.read_text().split(), ended)


def check(out: Path, before: list[str], after: list[str], ended: int) -> None:
    """Count what the mock was really asked against what the results say."""
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    in_order = [answer["id"] for answer in answers] == list(range(ROWS))
    statuses = Counter(answer["status"] for answer in answers)
    again = set(before) & set(after[len(before) :])
    print(f"\nrows written        {len(answers):,} of {ROWS:,}, {'in' if in_order else 'NOT IN'} input order")
    print(f"outcomes            {dict(statuses)}")
    print(f"calls to the mock   {len(before):,} before the kill, {len(after) - len(before):,} after")
    print(f"asked before and again after: {len(again)} prompts (in flight at the kill, or failed and retried)")
    if ended not in (0, 1) or len(answers) != ROWS or not in_order:
        sys.exit("the accounting is wrong")


if __name__ == "__main__":
    main()
