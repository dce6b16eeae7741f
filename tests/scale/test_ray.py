"""Real Ray over a real PostgreSQL, actors and a node killed: nothing settled is asked again. `make test-ray`."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import batchwork.ray
from batchwork.core.dsn import Dsn
from batchwork.core.event import Ended
from batchwork.core.outcome import Status
from batchwork.simulator import Latency, Simulator
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.ray_cluster import RayCluster, ray_cluster, until, why_no_ray

_REASON = why_not() or why_no_ray()
pytestmark = [
    pytest.mark.scale,
    pytest.mark.skipif(_REASON is not None, reason=str(_REASON)),
    pytest.mark.filterwarnings("ignore", "error::pytest.PytestUnhandledThreadExceptionWarning"),  # Ray has its own
]
ROWS, WINDOW, BLOCKS = 400, 10, 16
PASSWORD = "correct-horse-4711"


@pytest.fixture(scope="module")
def provider() -> Iterator[Simulator]:
    with Simulator(persona="echo", latency=Latency(median_s=0.5)) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def cluster(postgres: PostgresServer) -> Iterator[RayCluster]:
    address = postgres.journal("by_environment").replace("postgres@", f"postgres:{PASSWORD}@")
    with ray_cluster(nodes=2, ANTHROPIC_API_KEY="sk-simulated", BATCHWORK_JOURNAL=address) as cluster:
        yield cluster


class Trial:
    """A dataset of rows that nobody else asks, on a journal of its own."""

    def __init__(self, provider: Simulator, name: str, journal: str | None) -> None:
        import ray

        self.provider, self.name, self.journal = provider, name, journal
        self.dataset = ray.data.from_items(
            [{"id": number, "text": f"{name} {number}"} for number in range(ROWS)], override_num_blocks=BLOCKS
        )

    def run(self, **options: Any) -> Any:
        if self.journal is not None:
            options["journal"] = self.journal
        return batchwork.ray.run(
            self.dataset,
            model="anthropic:claude-haiku-4-5",
            base_url=self.provider.anthropic_url,
            max_cost=5,
            max_tokens=50,
            max_in_flight=WINDOW,
            in_order=True,
            **{"key": "id", "prompt": "Say: {text}", **options},
        )

    def bill(self) -> Counter[str]:
        """How often each row was billed."""
        prompts = self.provider.log()["prompts"].values()
        mine = [tally for tally in prompts if tally["billed"] and tally["preview"].startswith(f"Say: {self.name} ")]
        return Counter({tally["preview"].split()[-1]: tally["billed"] for tally in mine})

    def settled(self) -> set[str]:
        from batchwork.postgres.reader import DatabaseReader

        assert self.journal is not None
        with closing(DatabaseReader(Dsn.parse(self.journal))) as reader:
            entries = reader.entries(statuses=frozenset({Status.SUCCEEDED}))
            return {str(entry.columns["id"]) for entry in entries if entry.columns}


def right(rows: list[dict[str, Any]]) -> bool:
    """Whether all rows are there, in order, each with its answer."""
    assert [row["id"] for row in rows] == list(range(ROWS))
    assert all(row["text"] in row["response"] and row["status"] == "succeeded" for row in rows)
    return True


def killing(trial: Trial, kill: Callable[[], None]) -> set[str]:
    """Run, and kill when a third is billed; the rows that were settled then."""
    settled: set[str] = set()

    def strike() -> None:
        until(lambda: len(trial.bill()) > ROWS // 3, "a third is billed")
        settled.update(trial.settled())
        kill()

    striker = threading.Thread(target=strike, daemon=True)
    striker.start()
    assert right(trial.run(workers=(2, 2)).take_all())
    striker.join()
    return settled


def asked_again(trial: Trial, settled: set[str]) -> set[str]:
    """Of what was settled, what was paid once more. Everything else of such a run is judged here."""
    bill = trial.bill()
    again = {row for row, times in bill.items() if times > 1}
    assert len(settled) > ROWS // 10
    assert len(bill) == ROWS
    assert bill.total() - ROWS <= WINDOW, "more than the window of the dead"
    assert right(trial.run(workers=1).take_all())
    assert trial.bill() == bill, "a run with another number of workers asks nothing again"
    return again & settled


def test_an_actor_that_is_killed_repeats_nothing_settled(
    cluster: RayCluster, provider: Simulator, postgres: PostgresServer
) -> None:
    trial = Trial(provider, "actor", postgres.journal())
    assert not asked_again(trial, killing(trial, cluster.kill_actor))


def test_rows_that_fail_are_rows_and_nothing_is_sent_before_somebody_looks(
    cluster: RayCluster, provider: Simulator, postgres: PostgresServer
) -> None:
    import ray

    from batchwork.postgres.reader import DatabaseReader

    trial = Trial(provider, "failing", postgres.journal())
    words = [f"Say: failing {number}" if number % 5 else "" for number in range(20)]
    trial.dataset = ray.data.from_items([{"id": number, "text": word} for number, word in enumerate(words)])
    asked = trial.run(workers=1, prompt="{text}")
    assert not trial.bill()
    rows = asked.take_all()
    assert [row["id"] for row in rows] == list(range(20))
    assert [row["status"] for row in rows] == ["failed" if not number % 5 else "succeeded" for number in range(20)]
    assert len(trial.bill()) == 16
    assert trial.journal is not None
    with closing(DatabaseReader(Dsn.parse(trial.journal))) as reader:
        until(lambda: isinstance(reader.last_event(), Ended), "the last actor has told the end")
        assert reader.counts()[Status.FAILED] == 4


def test_the_password_of_the_journal_stands_in_no_file_of_rays(cluster: RayCluster, provider: Simulator) -> None:
    trial = Trial(provider, "secret", None)
    assert right(trial.run(workers=1).take_all())
    trial.dataset = trial.dataset.map(lambda row: {"id": row["id"] // 2, "text": f"secret again {row['id']}"})
    doubled = trial.run(workers=1)
    with pytest.raises(Exception, match="stands for two different requests"):
        doubled.take_all()
    kept = {path: path.read_bytes() for path in cluster.files()}
    assert any(b"Say: {text}" in content for content in kept.values()), "what an actor is told stands there"
    assert [path for path, content in kept.items() if PASSWORD.encode() in content] == []


def test_the_example_of_the_documentation_runs(
    cluster: RayCluster, postgres: PostgresServer, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
    (example,) = (
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "batchwork.ray.run" in block
    )
    example = example.replace("postgresql://db.example/work?journal=rivers", postgres.journal())
    exec(example.replace("ray.init()", ""), {})
    said = sorted(line for line in capsys.readouterr().out.splitlines() if "rise?" in line)
    assert [line.split("succeeded")[0].strip() for line in said] == [
        "1 Where does the Nile rise?",
        "2 Where does the Amazon rise?",
    ]


def test_a_node_that_is_killed_repeats_nothing_settled(
    cluster: RayCluster, provider: Simulator, postgres: PostgresServer
) -> None:
    trial, node = Trial(provider, "node", postgres.journal()), cluster.others[0]

    def kill() -> None:
        assert cluster.actors(node), "there is an actor on each node"
        cluster.kill_node(node)

    assert not asked_again(trial, killing(trial, kill))
