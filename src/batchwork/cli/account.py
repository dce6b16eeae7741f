"""`batchwork account`: budgets and rates that many processes share, set, shown and removed."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, TypeVar

import typer

from batchwork._bridge import run_sync
from batchwork.cli import options
from batchwork.cli.inputs import print_json
from batchwork.core.duration import rough_duration
from batchwork.core.errors import ConfigError
from batchwork.core.lease import INPUT_TOKENS, OUTPUT_TOKENS, REQUESTS
from batchwork.core.money import ceiling_from_dollars, show, to_dollars
from batchwork.core.policy import RatePolicy
from batchwork.core.words import counted

T = TypeVar("T")
_RATES = {REQUESTS: "requests", INPUT_TOKENS: "input tokens", OUTPUT_TOKENS: "output tokens", "tokens": "tokens"}
_limit = partial(typer.Option, rich_help_panel="What it limits")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The account.")]

account = typer.Typer(
    no_args_is_help=True,
    help="Budgets and rates that many processes share: on the same machine or not, whatever their journals."
    " BATCHWORK_SHARED=postgresql://HOST/DATABASE names the database that keeps them; `run --account NAME` uses them.",
)


@account.command("set")
def set_(
    name: Name,
    max_cost: Annotated[str | None, _limit(metavar="USD", help="Never spend more, all processes together.")] = None,
    per: Annotated[
        str | None,
        _limit(metavar="PERIOD", help="hour, day, week, month or year (UTC), each with its own budget. Default: one."),
    ] = None,
    rpm: options.Rpm = None,
    input_tpm: options.InputTpm = None,
    output_tpm: options.OutputTpm = None,
) -> None:
    """Make an account, or change what is given of it; processes that use it follow within a second.

    \b
    Examples:
      batchwork account set team --max-cost 50 --per month
      batchwork account set haiku --rpm 4000 --input-tpm 400000
    """
    RatePolicy(rpm=rpm, input_tpm=input_tpm, output_tpm=output_tpm)  # refuses what is no rate
    try:
        ceiling = None if max_cost is None else ceiling_from_dollars(max_cost)
    except ConfigError as error:
        raise ConfigError(f"max_cost: {error}") from None
    rates = {REQUESTS: rpm, INPUT_TOKENS: input_tpm, OUTPUT_TOKENS: output_tpm}

    async def change(connection: Any) -> Any:
        tables = _tables()
        await tables.set_account(connection, name, ceiling=ceiling, per=per, rates=rates)
        return (await tables.read_accounts(connection, [name]))[0]

    print(_line(_with_database(change)))


@account.command("list")
def list_(as_json: options.AsJson = False) -> None:
    """Show all accounts, one on each line."""
    accounts = _with_database(lambda connection: _tables().read_accounts(connection))
    if as_json:
        print_json([_facts(each) for each in accounts])
        return
    for each in accounts:
        print(_line(each))
    if not accounts:
        print("there are no shared accounts: `batchwork account set NAME ...` makes one")


@account.command("show")
def show_(name: Name, as_json: options.AsJson = False) -> None:
    """Show one account: what it limits, what is spent, and who uses it."""
    found = _with_database(lambda connection: _tables().read_accounts(connection, [name]))[0]
    if as_json:
        print_json(_facts(found))
        return
    print(_line(found))
    if found.ceiling is not None:
        free = max(0, found.ceiling - found.spent - found.leased)
        unconfirmed = f", {show(found.unconfirmed)} of it unconfirmed: held by processes that died or left calls behind"
        print(f"  spent      {show(found.spent)}{unconfirmed if found.unconfirmed else ''}")
        print(f"  held       {show(found.leased)} by processes for their next calls and those under way")
        print(f"  free       {show(free)}")
        if found.period_left_s is not None:
            print(f"  begins     anew in {rough_duration(found.period_left_s)}")
    for kind, rate in found.learned.items():
        print(f"  provider   states {rate:,.0f} {_RATES[kind]} a minute")
    if found.cool_s > 0.0:
        print(f"  waits      {rough_duration(found.cool_s)}, as the provider asked one of its users")
    print(f"  used by    {', '.join(found.holders) or 'nobody now'}")


@account.command()
def remove(name: Name) -> None:
    """Remove an account; processes that use it pause."""
    _with_database(lambda connection: _tables().remove_account(connection, name))
    print(f"the account {name} is removed")


def _line(found: Any) -> str:
    texts = []
    if found.ceiling is not None:
        of = f"{show(found.ceiling)}" + ("" if found.per is None else f" a {found.per}")
        texts.append(f"{show(found.spent)} of {of} spent")
    texts += [f"{rate:,.0f} {_RATES[kind]} a minute" for kind, rate in found.stated.items()]
    texts.append(counted(len(found.holders), "process uses it", "processes use it"))
    return f"{found.name}: {', '.join(texts)}"


def _facts(found: Any) -> dict[str, Any]:
    return {
        "name": found.name,
        "max_cost_usd": None if found.ceiling is None else str(to_dollars(found.ceiling)),
        "per": found.per,
        "spent_usd": str(to_dollars(found.spent)),
        "unconfirmed_usd": str(to_dollars(found.unconfirmed)),
        "held_usd": str(to_dollars(found.leased)),
        "next_period_s": found.period_left_s,
        "per_minute": found.stated,
        "stated_by_provider": found.learned,
        "waits_s": found.cool_s,
        "used_by": list(found.holders),
    }


def _tables() -> Any:
    from batchwork.postgres import account_tables  # noqa: PLC0415 - what it needs is an extra

    return account_tables


def _with_database(use: Callable[[Any], Awaitable[T]]) -> T:
    """What `use` makes of a connection to the database of the shared accounts."""
    from batchwork.postgres.shared_accounts import with_connection  # noqa: PLC0415 - what it needs is an extra

    return run_sync(lambda: with_connection(use))
