"""Run a small cut of every measurement: each must come to its verdict, whatever the verdict is.

A continuous-integration machine is too small and too busy to judge speed; what it can show is that every
measurement still runs against today's code.
"""

import subprocess
import sys
import time

from perf._harness import NOT_JUDGED, ROOT, TOO_BUSY


def main(names: list[str]) -> int:
    broken = []
    for name in names:
        began = time.monotonic()
        command = [sys.executable, "-m", f"perf.{name}", "--smoke"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        last = (done.stdout.strip().splitlines() or ["nothing printed"])[-1]
        if not last.endswith((" ok", " short", NOT_JUDGED)) and TOO_BUSY not in last:
            broken.append(name)
            print(done.stdout + done.stderr, flush=True)
        print(f"{last}  ({time.monotonic() - began:.0f} s)", flush=True)
    if broken:
        print(f"did not come to a verdict: {', '.join(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
