"""A real Ray on this machine, of one or two nodes, small; every process of it ends with the block."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SMALL = {"object_store_memory": 80_000_000, "include_dashboard": False}
_PATIENCE_S = 120.0
ACTOR = "ray::MapWorker("


def why_no_ray() -> str | None:
    """Why there is no Ray here; None: there is."""
    try:
        import ray.data  # noqa: F401
    except ImportError:
        return "Ray is not installed (make test-ray installs it)"
    return None


class RayCluster:
    """The cluster that this process is connected to."""

    def __init__(self, folder: Path, nodes: int) -> None:
        import ray
        from ray.cluster_utils import Cluster

        self.folder = folder
        self._cluster = Cluster(initialize_head=True, head_node_args={**_SMALL, "num_cpus": 1})
        self.others = [self._cluster.add_node(**_SMALL, num_cpus=1) for _ in range(nodes - 1)]
        ray.init(address=self._cluster.address, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False

    def actors(self, node: Any = None) -> list[int]:
        """The processes of our actors: all of them, or those of a node."""
        raylets = self._raylets([node] if node else self._cluster.list_all_nodes())
        return [pid for pid, parent, name in _processes() if parent in raylets and name.startswith(ACTOR)]

    def _raylets(self, nodes: Any) -> list[int]:
        return [node.all_processes["raylet"][0].process.pid for node in nodes]

    def kill_actor(self) -> None:
        os.kill(self.actors()[0], signal.SIGKILL)

    def kill_node(self, node: Any) -> None:
        self._cluster.remove_node(node, allow_graceful=False)

    def files(self) -> Iterator[Path]:
        """Everything that Ray keeps of this cluster in files, the object store included, whose file has no name."""
        yield from (path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink())
        for pid in self._raylets(self._cluster.list_all_nodes()):
            opened = Path(f"/proc/{pid}/fd").iterdir()
            yield from (path for path in opened if "plasma" in str(path.readlink()) and path.is_file())

    def close(self) -> None:
        import ray

        ray.shutdown()
        self._cluster.shutdown()


@contextmanager
def ray_cluster(nodes: int = 1, **environment: str) -> Iterator[RayCluster]:
    """A cluster whose processes have this in their environment."""
    folder = Path(tempfile.mkdtemp(prefix="bw-ray-"))  # a short path: there are sockets in it
    environment |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": str(folder)}
    before = {name: os.environ.get(name) for name in environment}
    os.environ |= environment
    try:
        cluster = RayCluster(folder, nodes)
        try:
            yield cluster
        finally:
            cluster.close()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        shutil.rmtree(folder, ignore_errors=True)


def until(is_so: Callable[[], Any], what: str) -> None:
    over = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < over, f"waited {_PATIENCE_S:.0f} s until {what}"
        time.sleep(0.05)


def _processes() -> Iterator[tuple[int, int, str]]:
    """Number, parent and name of every process."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                name = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except (OSError, IndexError):
                continue
            yield int(folder.name), parent, name
