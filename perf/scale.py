"""A journal in PostgreSQL against one in a file: client CPU, round trips, speed, growth. Not part of `make perf`."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from statistics import median
from urllib.parse import urlsplit

from perf._harness import arguments, folder, interleaved, ratio, run_module, show_table, verdict
from tests.support.postgres_server import PostgresServer, why_not

MOST_TIMES_FILE = 1.25
MOST_TRIPS = 1.1
MOST_BYTES = 2000.0
LEAST_PER_S = 10_000.0
WINDOW = 256
DELAY_S = 0.005


class Proxy:
    """A way to a server that takes 5 ms to it and counts how often somebody waits for an answer."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.trips = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            ours, _ = self._socket.accept()
            theirs = socket.create_connection(("127.0.0.1", self._to))
            for each in (ours, theirs):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            asking = threading.Event()
            threading.Thread(target=self._pass, args=(ours, theirs, asking, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(theirs, ours, asking, False), daemon=True).start()

    def _pass(self, source: socket.socket, to: socket.socket, asking: threading.Event, is_client: bool) -> None:
        with suppress(OSError), source, to:  # either side may hang up first
            while data := source.recv(1 << 20):
                if is_client and not asking.is_set():
                    asking.set()
                    self.trips += 1
                    time.sleep(DELAY_S)
                elif not is_client:
                    asking.clear()
                to.sendall(data)


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    if (reason := why_not()) is not None:
        print(f"scale: {reason}")
        return 1
    count, rounds = (5_000, 2) if smoke else (50_000, 5)
    server = PostgresServer()
    try:
        return _measure(server, count, rounds, smoke=smoke)
    finally:
        server.close()


def _measure(server: PostgresServer, count: int, rounds: int, *, smoke: bool) -> int:
    bills: dict[str, list[dict[str, float]]] = {"file": [], "database": []}
    with folder() as place:
        numbers = iter(range(1000))

        def bill(side: str) -> float:
            where = place / f"{next(numbers)}.db" if side == "file" else server.journal()
            bills[side].append(run_module("perf.one_journal", where, count, WINDOW).json())
            return bills[side][-1]["write_cpu_s"]

        seen = interleaved(rounds, {side: lambda side=side: bill(side) for side in bills})  # type: ignore[misc]
        times = ratio(seen["database"], seen["file"])
        rows = [
            (
                side,
                *(
                    f"{1e6 * median(told[f'{what}_cpu_s'] for told in each) / count:.1f}"
                    for what in ("write", "resume", "read")
                ),
                f"{count / median(told['write_s'] for told in each):,.0f}",
            )
            for side, each in bills.items()
        ]
        show_table((f"{count:,} items, window {WINDOW}", "write us", "resume us", "read us", "items/s"), rows)
        speed = count / median(told["write_s"] for told in bills["database"])
        trips, far = _far(server, Proxy(server.port), 2 * count // 5)
        print(f"with {DELAY_S * 1000:.0f} ms more on the way: {trips:.2f} round trips per group, {far:,.0f} items/s")
        big, many = server.journal(), 20_000 if smoke else 1_000_000
        grown = run_module("perf.one_journal", big, many, WINDOW).json()
        size = _bytes(server, big) / many
    print(
        f"{many:,} items: {size:,.0f} bytes each in the database, peak"
        f" {grown['peak_mb']:.0f} MB in the process, resumed in {grown['resume_s']:.1f} s"
    )
    return verdict(
        "scale",
        f"{times:.2f}x of the file's CPU, {trips:.2f} round trips a group, {size:,.0f} bytes per item, {speed:,.0f}/s",
        f"{MOST_TIMES_FILE:g}x, {MOST_TRIPS:g}, {MOST_BYTES:,.0f}, {LEAST_PER_S:,.0f}/s",
        ok=times <= MOST_TIMES_FILE and trips <= MOST_TRIPS and size <= MOST_BYTES and speed >= LEAST_PER_S,
        judged=not smoke,
    )


def _far(server: PostgresServer, proxy: Proxy, count: int) -> tuple[float, float]:
    """Round trips per group, from the difference of two lengths, and items per second, through the proxy."""
    seen = []
    for items in (count // 2, count):
        before = proxy.trips
        address = server.journal()
        away = address.replace(f":{urlsplit(address).port}/", f":{proxy.port}/")
        told = run_module("perf.one_journal", away, items, WINDOW, "write").json()
        seen.append((proxy.trips - before, told["groups"], items / told["write_s"]))
    return (seen[1][0] - seen[0][0]) / (seen[1][1] - seen[0][1]), seen[1][2]


def _bytes(server: PostgresServer, journal: str) -> float:
    schema = f"batchwork_{journal.partition('journal=')[2]}"
    sql = (
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relkind = 'r'"
    )
    return float(server.execute(sql, schema)[0][0])


if __name__ == "__main__":
    raise SystemExit(main())
