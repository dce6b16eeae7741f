"""The commands `serve` and `ask`: prompts over HTTP, and one prompt from the shell."""

import inspect
import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from batchwork._bridge import run_sync
from batchwork.cli import options
from batchwork.cli.errors import in_options
from batchwork.cli.inputs import load_schema, sampling_of
from batchwork.core.errors import ConfigError
from batchwork.core.request import DEFAULT_MAX_TOKENS
from batchwork.prompts import Answer, defaults_for, open_prompt_service, process_multiple_prompts
from batchwork.settings import Settings
from batchwork.summary import Exit

_who = partial(typer.Option, rich_help_panel="Who may call, and where")
_strangers = partial(typer.Option, rich_help_panel="How much of the server strangers may hold")


def serve(
    model: options.Model = "",
    also: Annotated[
        list[str] | None, typer.Option("--also", metavar="M", help="Another model that callers may name.")
    ] = None,
    host: Annotated[str, _who(metavar="H", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, _who(metavar="P", help="The port; 0 is any free one.")] = 8000,
    key_file: Annotated[Path | None, _who(metavar="F", help="API keys, one per line; also BATCHWORK_API_KEYS.")] = None,
    new_key: Annotated[
        bool,
        _who("--new-key", metavar=options.FLAG, help="Make a key, print it, add it to --key-file if given, and end."),
    ] = False,
    max_tokens: Annotated[
        int, options.limit(metavar="N", help="The longest answer to a prompt that does not say: so many tokens.")
    ] = DEFAULT_MAX_TOKENS,
    batch_size: Annotated[int, options.limit(metavar="N", help="The most calls in flight of one request.")] = 100,
    max_in_flight: Annotated[int, options.limit(metavar="N", help="The most calls at once.")] = 400,
    max_cost_per_day: Annotated[
        float | None, options.limit(metavar="USD", help="Never spend more in a day (UTC).")
    ] = None,
    budget_file: Annotated[
        Path | None,
        options.limit(
            metavar="F",
            help="Remembers what today has cost, for --max-cost-per-day. Default: budget.json in"
            " ~/.local/state/batchwork (XDG_STATE_HOME).",
        ),
    ] = None,
    account: options.Account = None,
    price: options.Price = None,
    rpm: options.Rpm = None,
    input_tpm: options.InputTpm = None,
    output_tpm: options.OutputTpm = None,
    retries: options.Retries = 3,
    max_retry_time: Annotated[
        float,
        options.limit(
            metavar="S",
            help="No retry, of a refusal or a failure, starts later after a prompt's first call. A call that runs into"
            " a longer --timeout is not made again.",
        ),
    ] = 60.0,
    timeout: options.Timeout = 120.0,
    base_url: options.BaseUrl = None,
    max_body: Annotated[float, options.limit(metavar="MiB", help="The largest body.")] = 8.0,
    max_connections: Annotated[
        int, _strangers(metavar="N", help="The most connections; fewer where files run out.")
    ] = 1000,
    head_timeout: Annotated[float, _strangers(metavar="S", help="Seconds for a request's head.")] = 10.0,
    least_rate: Annotated[
        int, _strangers(metavar="B", help="Bytes a second of a body or a read answer, at least.")
    ] = 1024,
    slow_timeout: Annotated[float, _strangers(metavar="S", help="Seconds that either may be slower.")] = 15.0,
    max_open_prompts: Annotated[int, _strangers(metavar="N", help="The most open prompts of all callers.")] = 20_000,
    max_open: Annotated[float, _strangers(metavar="MiB", help="The most bodies and answers in memory.")] = 128.0,
    work_timeout: Annotated[float, _strangers(metavar="S", help="Seconds for a large schema or answer.")] = 10.0,
    grace: Annotated[float, options.limit(metavar="S", help="Seconds to finish after SIGTERM.")] = 30.0,
    log_text: Annotated[
        bool, typer.Option("--log-text", metavar=options.FLAG, help="Put prompts and answers into the log.")
    ] = False,
) -> None:
    """Answer prompts over HTTP: POST /api/v1/prompt for one, POST /api/v1/prompts for up to a thousand.

    \b
    Examples:
      batchwork serve --model mock:echo
      batchwork serve --new-key --key-file keys.txt
      batchwork serve --model mock:echo --host 0.0.0.0 --key-file keys.txt --max-cost-per-day 20 --price 0.1,0.5
    """
    arguments = locals()
    # Imported here because the web framework takes longer to load than the other commands take to run.
    try:
        from batchwork.server import keys, logs, web_server  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ConfigError(f"{error.name} is not installed: pip install 'batchwork[server]'") from None
    if new_key:
        _make_key(key_file, keys)
        return
    if not model:
        raise ConfigError("--model is required, for example --model mock:echo")
    logs.set_up()
    web_server.serve(_server_config(arguments, keys), say=lambda text: print(text, file=sys.stderr, flush=True))


def _server_config(given: dict[str, Any], keys: Any) -> Any:
    """The options of `serve` as the server's parts name them."""
    from batchwork.server.config import ConnectionLimits, ServerConfig, WorkLimits  # noqa: PLC0415

    settings = Settings.from_environment()
    if given["max_cost_per_day"] is not None and given["budget_file"] is None:
        given["budget_file"] = settings.state_dir / "budget.json"
    return ServerConfig(
        **{name: value for name, value in given.items() if name in ServerConfig.__dataclass_fields__},
        models=tuple(given["also"] or ()),
        accounts=tuple(given["account"] or ()),
        keys=keys.key_ring(settings.server_api_keys, given["key_file"]),
        timeout_s=given["timeout"],
        max_retry_s=given["max_retry_time"],
        max_body_bytes=int(given["max_body"] * 2**20),
        max_open_bytes=int(given["max_open"] * 2**20),
        connections=ConnectionLimits(
            max_connections=given["max_connections"],
            head_s=given["head_timeout"],
            least_bytes_per_s=given["least_rate"],
            slow_s=given["slow_timeout"],
        ),
        work=WorkLimits(job_s=given["work_timeout"]),
        grace_s=given["grace"],
    )


def _make_key(key_file: Path | None, keys: Any) -> None:
    key = keys.new_key()
    print(key)
    if key_file is None:
        print("Give it to the server as BATCHWORK_API_KEYS or in a --key-file; it is not kept here.", file=sys.stderr)
        return
    keys.add_key(key_file, key)
    print(f"Its digest was added to {key_file}; the key itself is not kept, so note it now.", file=sys.stderr)


def ask(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="The prompt; - reads it from stdin.")],
    model: options.Model,
    schema: options.SchemaFile = None,
    extract: Annotated[
        str | None, typer.Option(metavar="PATH", help="Print only this field of the answer, like items[*].total.")
    ] = None,
    system: options.System = None,
    max_tokens: options.MaxTokens = DEFAULT_MAX_TOKENS,
    temperature: options.Temperature = None,
    sampling: options.Sampling = None,
    max_cost: Annotated[float | None, options.limit(metavar="USD", help="Do not ask if it may cost more.")] = None,
    account: options.Account = None,
    price: options.Price = None,
    base_url: options.BaseUrl = None,
    retries: options.Retries = 3,
    timeout: options.Timeout = 120.0,
    as_json: Annotated[
        bool, typer.Option("--json", metavar=options.FLAG, help="The whole answer, with usage and cost.")
    ] = False,
) -> None:
    """Ask one prompt, through the same pipeline as the server.

    \b
    Examples:
      batchwork ask "Which river flows through Vienna?" --model mock:echo
      batchwork ask "River: Danube" --model mock:reader --schema river.json --extract river
    """
    item: dict[str, Any] = {"prompt": sys.stdin.read() if prompt == "-" else prompt}
    if schema is not None:
        item["response_format"] = {"type": "json_schema", "json_schema": {"schema": load_schema(schema)}}
    item["sampling"] = sampling_of(temperature, sampling)
    if extract is not None:
        item["extract_field_path"] = extract

    async def run() -> Answer:
        async with open_prompt_service(
            model, max_cost=max_cost, account=account, price=price, base_url=base_url, retries=retries, timeout=timeout
        ) as service:
            if notice := service.models[model].backend.traits.notice:
                print(notice, file=sys.stderr)
            defaults = defaults_for(service, system=system, max_tokens=max_tokens)
            return (await process_multiple_prompts([item], service, defaults=defaults)).answers[0]

    answer = run_sync(run)
    if as_json:
        print(json.dumps({name: getattr(answer, name) for name in answer.__struct_fields__}, ensure_ascii=False))
    elif answer.status == "success":
        print(answer.response if isinstance(answer.response, str) else json.dumps(answer.response, ensure_ascii=False))
    else:
        error = in_options(answer.error or "", inspect.signature(ask).parameters)
        if answer.error_code == "over_budget":
            error = error.replace("raise the budget", "raise --max-cost")
        print(f"batchwork: {answer.error_code}: {error}", file=sys.stderr)
    if answer.truncated and (schema is None or answer.status == "error"):  # validated JSON is whole
        print(f"batchwork: the answer was cut off after {max_tokens:,} tokens: raise --max-tokens", file=sys.stderr)
    raise typer.Exit(_code(answer))


def _code(answer: Answer) -> Exit:
    if answer.status == "success":
        return Exit.ALL_SUCCEEDED
    if answer.error_code == "over_budget":
        return Exit.BUDGET
    bad = ("invalid_request", "invalid_schema", "invalid_path", "unknown_model")
    return Exit.BAD_INPUT if answer.error_code in bad else Exit.SOME_FAILED
