"""`batchwork simulate`: a provider on loopback."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from batchwork._bridge import run_sync
from batchwork.cli.options import FLAG
from batchwork.core.errors import ConfigError

if TYPE_CHECKING:
    from batchwork.simulator import Simulator

_limit = partial(typer.Option, rich_help_panel="Rate limits")
_weather = partial(typer.Option, rich_help_panel="Weather")


def simulate(
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 8765,
    persona: Annotated[
        str, typer.Option(help="reader, echo, schema, script:FILE, or quotes:CHARACTER:FILE.")
    ] = "reader",
    seed: Annotated[int, typer.Option(help="Makes everything drawn at random the same again.")] = 0,
    latency: Annotated[str, _weather(metavar="MEDIAN,SIGMA", help="Seconds, lognormal.")] = "0",
    faults: Annotated[
        str, _weather(metavar="[SCOPE:]KIND=SHARE,...", help="For example 529=0.02,create:503_after=1.")
    ] = "",
    batch_time: Annotated[float, _weather(metavar="S", help="How long a batch takes.")] = 2.0,
    time_scale: Annotated[float, _weather(metavar="X", help="Simulated seconds per real one.")] = 1.0,
    clock_offset: Annotated[float, _weather(metavar="S", help="How far its clock is ahead.")] = 0.0,
    default_tier: Annotated[
        str, _weather(metavar="TIER", help="OpenAI: where a call goes that names none.")
    ] = "default",
    rpm: Annotated[int | None, _limit(help="Requests per minute.")] = None,
    input_tpm: Annotated[int | None, _limit(help="Input tokens per minute.")] = None,
    output_tpm: Annotated[int | None, _limit(help="Output tokens per minute.")] = None,
    require_key: Annotated[
        bool,
        typer.Option("--require-key", metavar=FLAG, help="Refuse calls without an API key, as a real provider does."),
    ] = False,
) -> None:
    """Start a provider on loopback that speaks Anthropic's and OpenAI's wire. No model, no key, no network.

    Every answer says that it is simulated. GET /_sim/log tells what was received and billed.

    \b
    Faults are a share of the calls of a SCOPE: live (when none is given), create,
    poll, list, results, cancel, files, and item (each request inside a batch).
    Nothing is done, nothing billed:
      400 401 403 404 408 409 413 422 429 quota 500 503 504 529 reset sse_error
    Done and billed, but the answer is an error, cut off or not to be read:
      408_after 409_after 500_after 503_after 504_after 529_after
      reset_after hang_after unreadable_after truncated huge_headers
    Late: slow
    The answer (live, item):
      refusal max_tokens context_window pause_turn thinking empty wrong_case
      malformed null no_usage zero_usage
    The result line (item): missing not_json duplicated, or never run: expired canceled
    The download (results): short shuffled trickle, or for good: gone
    The counts (poll), for good: low_counts

    \b
    Examples:
      batchwork simulate
      batchwork simulate --persona echo --latency 0.3,0.8 --rpm 2400 --faults 529=0.02,reset=0.01
      batchwork simulate --faults create:529_after=0.5,item:missing=0.1
      batchwork run in.jsonl -o out.jsonl --model anthropic:claude-haiku-5-5 --base-url http://127.0.0.1:8765
    """
    arguments = locals()
    # Imported here: a server need not be loaded to run `batchwork run`.
    from batchwork.simulator import Simulator, SimulatorConfig, SimulatorConfigError  # noqa: PLC0415

    try:
        simulator = Simulator(SimulatorConfig.from_options(**arguments))
    except SimulatorConfigError as error:
        raise ConfigError(str(error)) from error
    stop = asyncio.Event()
    run_sync(lambda: _serve(simulator, stop, port), interrupt=stop.set)


async def _serve(simulator: Simulator, stop: asyncio.Event, port: int) -> None:
    server = asyncio.create_task(simulator.serve_forever(_ready))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait([server, stopped], return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not server.done():
        server.cancel()
        await asyncio.wait([server])
    elif (error := server.exception()) is not None:
        if isinstance(error, OSError):
            raise ConfigError(f"cannot listen on port {port}: {error.strerror}; choose another --port")
        raise error


def _ready(url: str) -> None:
    print(f"A simulated provider listens on {url} (no model behind it). Ctrl-C ends it.", flush=True)
    print(f"  Anthropic:  --base-url {url}", flush=True)
    print(f"  OpenAI:     --base-url {url}/v1", flush=True)
    print(f"  the bill:   {url}/_sim/log", flush=True)
