"""A simulated provider in a process of its own, so that it shares no interpreter with what is measured."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from perf._harness import ROOT


@dataclass(frozen=True, slots=True)
class Provider:
    """Where it listens."""

    url: str

    def log(self) -> dict[str, Any]:
        """What it received and billed."""
        with urllib.request.urlopen(f"{self.url}/_sim/log") as answer:
            told: dict[str, Any] = json.load(answer)
        return told


@contextmanager
def provider(**settings: Any) -> Iterator[Provider]:
    """A provider with these settings of `SimulatorConfig` (latency as "median,sigma", faults as "kind=share,...")."""
    command = [sys.executable, "-m", "perf.provider", json.dumps(settings)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        yield Provider(process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()


def main() -> None:
    from batchwork.simulator import Faults, Latency, Simulator, SimulatorConfig

    settings = json.loads(sys.argv[1])
    if "latency" in settings:
        settings["latency"] = Latency.parse(settings["latency"])
    if "faults" in settings:
        settings["faults"] = Faults.parse(settings["faults"])
    simulator = Simulator(SimulatorConfig(**settings))
    asyncio.run(simulator.serve_forever(lambda url: print(url, flush=True)))


if __name__ == "__main__":
    main()
