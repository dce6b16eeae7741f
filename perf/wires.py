"""CPU per request of the Gemini backend beside that of the Anthropic backend: the same questions, the same answer, one
canned server, round by round in turn. The backends alone, without the engine, whose share is the same on every wire.
"""

from __future__ import annotations

import json
import os
import sys

from perf._harness import arguments, folder, interleaved, ratio, run_child, show_table, verdict
from perf.http import canned_server
from perf.http_side import IN_FLIGHT, MAX_TOKENS, Spent, measured

MOST_TIMES_ANTHROPIC = 1.1
MODELS = {"anthropic": "anthropic:claude-haiku-5-5", "gemini": "gemini:gemini-3.8-flash"}


async def side(wire: str, url: str, count: int) -> Spent:
    """One backend, asked so often."""
    from batchwork.backends import Setup, open_backend
    from batchwork.clock import SystemClock
    from batchwork.core.request import Request

    setup = Setup(clock=SystemClock(), max_in_flight=IN_FLIGHT, base_url=url, api_key="any")
    backend, _ = open_backend(MODELS[wire], setup)

    async def ask(question: str) -> str:
        return (await backend.complete(Request.ask(question, max_tokens=MAX_TOKENS))).text

    try:
        return await measured(ask, count)
    finally:
        await backend.aclose()


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    requests, rounds = (1_000, 1) if smoke else (10_000, 5)
    with folder() as place, canned_server(authority_file=place / "authority.pem") as url:

        def one(wire: str) -> float:
            environment = {**os.environ, "SSL_CERT_FILE": str(place / "authority.pem")}
            told = run_child([sys.executable, "-m", "perf.wires", "side", wire, url, requests], environment=environment)
            assert told.json()["answered"] == requests, told
            return float(told.json()["cpu_s"]) / requests * 1e6

        seen = interleaved(rounds, {wire: lambda wire=wire: one(wire) for wire in MODELS})  # type: ignore[misc]
    show_table(["backend", "CPU us per request"], [[wire, f"{min(times):.1f}"] for wire, times in seen.items()])
    times = ratio(seen["gemini"], seen["anthropic"])
    figure = f"{times:.3f} x the Anthropic backend"
    return verdict("wires", figure, f"{MOST_TIMES_ANTHROPIC} x", ok=times <= MOST_TIMES_ANTHROPIC, judged=not smoke)


if __name__ == "__main__":
    if sys.argv[1:2] == ["side"]:
        import uvloop

        print(json.dumps(uvloop.run(side(sys.argv[2], sys.argv[3], int(sys.argv[4])))._asdict()))
    else:
        sys.exit(main())
