"""Stop for lack of money, go on with more, retry what failed: one state file, nothing paid for twice.

The provider is the simulator on loopback; no key, no network. It refuses every tenth answer at first.
"""

import tempfile
from pathlib import Path
from typing import Any

from batchwork import BatchManager
from batchwork.simulator import Simulator, SimulatorConfig

MESSAGES = [f"City: Town {i}\nWhich city is it?" for i in range(80)]


def main() -> None:
    """Three runs on one state."""
    with tempfile.TemporaryDirectory(prefix="batchwork-resume-") as folder:
        with Simulator(SimulatorConfig(persona="reader", batch_time_s=0.5, seed=3)) as provider:
            told: dict[str, Any] = {
                "messages": MESSAGES,
                "model": "claude-haiku-5-5",
                "max_tokens": 100,
                "items_per_job": 20,
                "state_path": Path(folder) / "state.json",
                "base_url": provider.anthropic_url,
                "api_key": "not needed by the simulator",
                "poll_interval": 0.2,
            }
            provider.set_faults({"refusal": 0.1})
            poor = BatchManager(**told, max_cost="0.00008")
            poor.run()
            show("with $0.00008", poor)
            rich = BatchManager(**told, max_cost="1.00")  # another process, the same state
            rich.run()
            show("with $1.00", rich)
            provider.set_faults("")
            again = rich.retry_failed()
            show(f"{len(again)} tried again", rich)
            billed = provider.log()["total"]["nano_dollars"]
        print(f"the provider billed ${billed / 1e9:.6f}, we counted ${rich.stats.total_cost}")
        if rich.stats.completed_items != len(MESSAGES) or billed != round((rich.stats.total_cost or 0) * 10**9):
            raise SystemExit("the accounting is wrong")


def show(when: str, manager: BatchManager) -> None:
    """Where every item is."""
    stats = manager.stats
    print(
        f"{when:18} {stats.completed_items} succeeded, {stats.failed_items} failed, {stats.deferred_items} deferred,"
        f" ${stats.total_cost} spent"
    )


if __name__ == "__main__":
    main()
