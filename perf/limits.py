"""How much of what a provider allows is used, and how often it has to say no.

The provider allows 40 requests a second with a small burst, answers after a lognormal time (median 0.3 s, sigma 0.8),
and gets 800 requests: with its limits in the headers, without headers but stated by the user, and with neither; then
the same with a limit of input tokens. Beside it stand a semaphore of 100 over the SDK, gather per 100, and litellm.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from statistics import median
from typing import Any

from perf._harness import arguments, peers_python, run_child, run_module, show_table, verdict
from perf.provider import provider

RPM = 2400
BURST_S = 0.15
TOKENS_PER_REQUEST = 18  # what the simulated provider counts for one of these prompts
INPUT_TPM = RPM * TOKENS_PER_REQUEST
FIRST_WAVE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One way of meeting one provider."""

    name: str
    limits: dict[str, Any]
    headers: bool = True
    options: dict[str, Any] | None = None  # of batchwork; None for a peer
    peer: str = ""
    least: float = 0.0
    most_refused: float = 1.0


REQUESTS_LIMIT = {"rpm": RPM}
TOKENS_LIMIT = {"input_tpm": INPUT_TPM}
CASES = [
    Case(name="limits in the headers", limits=REQUESTS_LIMIT, options={}, least=0.90, most_refused=0.005),
    Case(
        name="no headers, --rpm",
        limits=REQUESTS_LIMIT,
        headers=False,
        options={"rpm": RPM},
        least=0.90,
        most_refused=0.005,
    ),
    Case(
        name="no headers, nothing stated",
        limits=REQUESTS_LIMIT,
        headers=False,
        options={},
        least=0.75,
        most_refused=0.03,
    ),
    Case(name="tokens: limits in the headers", limits=TOKENS_LIMIT, options={}, least=0.90, most_refused=0.005),
    Case(
        name="tokens: no headers, --input-tpm",
        limits=TOKENS_LIMIT,
        headers=False,
        options={"input_tpm": INPUT_TPM},
        least=0.90,
        most_refused=0.005,
    ),
    Case(
        name="tokens: no headers, nothing stated",
        limits=TOKENS_LIMIT,
        headers=False,
        options={},
        least=0.75,
        most_refused=0.03,
    ),
]
PEERS = [
    Case(name="semaphore of 100 over the SDK", limits=REQUESTS_LIMIT, peer="semaphore"),
    Case(name="gather per 100 over the SDK", limits=REQUESTS_LIMIT, peer="gather"),
    Case(name="litellm Router", limits=REQUESTS_LIMIT, peer="litellm"),
]


def measure(case: Case, requests: int, seed: int) -> tuple[float, float, int]:
    """Share of the allowed throughput, share refused, how many were lost."""
    settings = {"persona": "echo", "latency": "0.3,0.8", "seed": seed, "burst_s": BURST_S, "rate_headers": case.headers}
    with provider(**settings, **case.limits) as there:
        if case.peer:
            told = run_child([peers_python(), "-P", "perf/peer_limited.py", case.peer, there.url, requests]).json()
        else:
            told = run_module("perf.one_limited", there.url, requests, json.dumps(case.options)).json()
        log = there.log()["requests"]
    # A first wave meets limits that nobody has told yet: its refusals are counted apart, and are at most a window.
    first = min(request["at"] for request in log) + FIRST_WAVE_S
    refused = sum(request["status"] == 429 and request["at"] > first for request in log)
    return requests / (RPM / 60) / told["seconds"], refused / requests, requests - told["succeeded"]


def main() -> int:
    options = arguments(__doc__ or "")
    requests = 200 if options.smoke else 800
    cases = CASES[:3] if options.smoke else CASES + PEERS
    rows, ok, worst = [], True, 1.0
    for case in cases:
        # The slowest answers of a run weigh much in 20 seconds: the median of three draws of them.
        try:
            runs = [measure(case, requests, seed) for seed in ((1,) if options.smoke or case.peer else (1, 2, 3))]
        except SystemExit as ended:
            if not case.peer:
                raise
            rows.append([case.name, "did not run", "", "", ""])  # seen: litellm's own imports deadlock now and then
            print(ended, file=sys.stderr)
            continue
        share, refused = (median(run[i] for run in runs) for i in (0, 1))
        lost = sum(run[2] for run in runs)
        # The tail of the slowest answers weighs more in a short run: a smoke cut only shows that nothing is lost.
        good = case.peer != "" or (
            lost == 0 and (options.smoke or (share >= case.least and refused <= case.most_refused))
        )
        ok = ok and good
        if not case.peer:
            worst = min(worst, share)
        bar = "" if case.peer else f"{case.least:.2f} / {case.most_refused:.1%}"
        rows.append([case.name, f"{share:.3f}", f"{refused:.2%}", str(lost), bar])
        show_table([f"{requests} requests at 40/s", "of the allowed", "refused", "lost", "bar"], rows[-1:])
    print()
    show_table([f"{requests} requests at 40/s", "of the allowed", "refused", "lost", "bar"], rows)
    return verdict("limits", f"{worst:.2f} of the allowed at worst, all bars", "0.90, blind 0.75", ok=ok)


if __name__ == "__main__":
    sys.exit(main())
