"""Shared accounts through the doors: `run`, `BatchManager`, the command line and the service, on any journal."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import batchwork
from batchwork.cli import app
from batchwork.core.errors import BatchworkError, ConfigError
from batchwork.prompts import open_prompt_service, process_multiple_prompts
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
# Three tokens in and three out at a micro-dollar each; the worst case is 20 out.
_PAID: dict[str, Any] = {"model": "mock:echo", "price": "1,1", "max_tokens": 20, "max_in_flight": 10}
_NANO = 10**9


def prompts(count: int, first: str = "prompt") -> list[str]:
    return [f"{first} {n:03d}" for n in range(count)]


@pytest.fixture
def account(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The command `batchwork account`, on a database that this test has for itself."""
    postgres.execute("DROP SCHEMA IF EXISTS batchwork CASCADE")
    monkeypatch.setenv("BATCHWORK_SHARED", postgres.address)

    def command(*words: str) -> str:
        result = CliRunner().invoke(app, ["account", *words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.output

    return command


def shown(account: Callable[..., str], name: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(account("show", name, "--json"))
    return facts


def test_runs_on_any_journal_and_a_manager_spend_from_one_account(
    account: Callable[..., str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    account("set", "team", "--max-cost", "0.01", "--per", "month")
    account("set", "haiku", "--rpm", "60000", "--input-tpm", "6000000")
    both = ["team", "haiku"]
    first = batchwork.run(prompts(50), **_PAID, account=both)
    second = batchwork.run(prompts(50), **_PAID, account=both, journal=tmp_path / "run.db")
    manager = batchwork.BatchManager(prompts(50, "manager"), **_PAID, account="team", mode="live")
    done = manager.run()
    spent = sum(float(each.total_cost or 0) for each in (first, second, done))
    assert first.accounting.succeeded == second.accounting.succeeded == 50
    team = shown(account, "team")
    assert float(team["spent_usd"]) == pytest.approx(spent)
    assert (team["held_usd"], team["unconfirmed_usd"], team["used_by"]) == ("0", "0", [])


def test_six_runs_at_once_use_one_ceiling_up_and_never_pass_it(account: Callable[..., str], tmp_path: Path) -> None:
    ceiling = 0.004
    account("set", "team", "--max-cost", str(ceiling))

    async def all_at_once() -> list[batchwork.Results]:
        model = "mock:echo?latency=0.01&sigma=0.5"
        given = {**_PAID, "model": model, "account": "team"}
        return await asyncio.gather(
            *(
                batchwork.arun(prompts(150, f"run {n}"), **given, journal=tmp_path / f"{n}.db" if n % 2 else None)
                for n in range(6)
            )
        )

    results = asyncio.run(all_at_once())
    spent = sum(float(each.total_cost or 0) for each in results)
    assert ceiling - 110_000 / _NANO < spent <= ceiling  # less is left than the dearest call may cost
    assert {each.stopped for each in results} <= {None, "budget"}
    assert sum(each.accounting.deferred for each in results) > 0
    assert float(shown(account, "team")["spent_usd"]) == pytest.approx(spent)


def test_a_service_asks_the_accounts_too(account: Callable[..., str]) -> None:
    account("set", "team", "--max-cost", "0.0005")

    async def main() -> list[str]:
        async with open_prompt_service("mock:echo", account=["team"], price="1,1") as service:
            result = await process_multiple_prompts(
                [{"prompt": f"one {n}", "max_tokens": 20} for n in range(200)], service
            )
            return [answer.error_code or answer.status for answer in result.answers]

    said = asyncio.run(main())
    assert set(said) == {"success", "over_budget"}
    assert float(shown(account, "team")["spent_usd"]) <= 0.0005


def test_batches_at_the_provider_are_paid_from_the_account(account: Callable[..., str], tmp_path: Path) -> None:
    from batchwork.simulator import Simulator

    account("set", "team", "--max-cost", "0.05")
    with Simulator(persona="echo", batch_time_s=0.2) as provider:
        given = {"base_url": provider.anthropic_url, "api_key": "sk-test", "poll_interval": 0.1, "max_tokens": 20}
        results = batchwork.run(prompts(40), model="anthropic:claude-haiku-4-5", mode="batch", account="team", **given)
        bill = provider.log()["total"]["nano_dollars"]
    assert results.accounting.succeeded == 40
    team = shown(account, "team")
    assert (round(float(team["spent_usd"]) * _NANO), team["held_usd"]) == (bill, "0")


@pytest.mark.parametrize("name", ["teem", "", "haiku"])
def test_an_unknown_account_is_an_error_before_anything_is_sent(
    account: Callable[..., str], name: str, tmp_path: Path
) -> None:
    account("set", "team", "--max-cost", "1")
    log = tmp_path / "calls"
    with pytest.raises(ConfigError, match="account"):
        batchwork.run(prompts(3), **{**_PAID, "model": f"mock:echo?log={log}"}, account=["team", name])
    assert not log.exists()


def test_without_the_database_and_without_a_price_an_account_is_refused_with_the_remedy(
    account: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    account("set", "team", "--max-cost", "1")
    with pytest.raises(ConfigError, match=r"price of 'anthropic:no-such-model'.*'team'"):
        batchwork.run(prompts(3), model="anthropic:no-such-model", api_key="sk-test", account="team")
    monkeypatch.delenv("BATCHWORK_SHARED")
    with pytest.raises(ConfigError, match="BATCHWORK_SHARED=postgresql://"):
        batchwork.run(prompts(3), **_PAID, account="team")
    monkeypatch.setenv("BATCHWORK_SHARED", "postgresql://me:hush-hush@127.0.0.1:1/db")
    with pytest.raises(BatchworkError) as refused:
        batchwork.run(prompts(3), **_PAID, account="team")
    assert "hush" not in str(refused.value)


def test_the_command_sets_shows_lists_and_removes(account: Callable[..., str]) -> None:
    with pytest.raises(ConfigError, match="makes one"):
        account("list")
    assert account("set", "team", "--max-cost", "50", "--per", "month").startswith(
        "team: $0.00 of $50.00 a month spent"
    )
    assert "4,000 requests a minute, 400,000 input tokens" in account(
        "set", "haiku", "--rpm", "4000", "--input-tpm", "400000"
    )
    assert "5,000 requests a minute, 400,000 input tokens" in account("set", "haiku", "--rpm", "5000")
    assert [line.partition(":")[0] for line in account("list").splitlines()] == ["haiku", "team"]
    assert "begins     anew in" in account("show", "team")
    assert shown(account, "haiku")["per_minute"] == {"requests": 5000.0, "input_tokens": 400_000.0}
    assert account("remove", "haiku") == "the account haiku is removed\n"
    with pytest.raises(ConfigError, match="did you mean 'team'"):
        account("remove", "teams")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set", "team"), "--max-cost"),
        (("set", "team", "--per", "month"), "--max-cost"),
        (("set", "team", "--max-cost", "1", "--per", "fortnight"), "hour, day"),
        (("set", "team", "--max-cost", "-1"), "at least 0"),
        (("set", "team", "--max-cost", "1e30"), "at most"),
        (("set", "team", "--rpm", "0"), "above 0"),
        (("set", " team", "--rpm", "1"), "printable"),
    ],
)
def test_what_cannot_be_an_account_is_refused_and_nothing_is_made(
    account: Callable[..., str], words: tuple[str, ...], said: str
) -> None:
    account("set", "other", "--rpm", "1")
    with pytest.raises(ConfigError, match=said):
        account(*words)
    assert account("list").startswith("other")


def test_a_ceiling_that_is_lowered_below_what_is_spent_stops_and_one_that_is_raised_goes_on(
    account: Callable[..., str], tmp_path: Path
) -> None:
    account("set", "team", "--max-cost", "0.0005")
    given = {**_PAID, "journal": tmp_path / "run.db", "account": "team"}
    assert batchwork.run(prompts(100), **given).stopped == "budget"
    account("set", "team", "--max-cost", "0.0001")
    assert batchwork.run(prompts(100), **given).stopped == "budget"
    account("set", "team", "--max-cost", "1")
    assert batchwork.run(prompts(100), **given).stopped is None


def test_the_journal_remembers_the_account_and_never_the_database(
    account: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: PostgresServer
) -> None:
    account("set", "team", "--max-cost", "1")
    secret = f"postgresql://postgres:hush-hush@127.0.0.1:{postgres.port}/postgres"
    monkeypatch.setenv("BATCHWORK_SHARED", secret)
    journal = tmp_path / "run.db"
    batchwork.run(prompts(3), **_PAID, journal=journal, account="team").close()
    assert all(b"hush" not in path.read_bytes() for path in tmp_path.iterdir())
    assert b"team" in journal.read_bytes()


def test_a_database_that_goes_away_pauses_the_run_with_the_remedy_and_the_next_one_goes_on(
    account: Callable[..., str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = PostgresServer()
    caplog.set_level(logging.CRITICAL)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BATCHWORK_SHARED", own.address)
            account("set", "team", "--max-cost", "1")
            given = {**_PAID, "model": "mock:echo?latency=0.02", "journal": tmp_path / "run.db", "account": "team"}
            seen = []

            def stop_at(event: object) -> None:
                seen.append(event)
                if len(seen) == 100:
                    own.stop()

            with pytest.raises(batchwork.RunPaused, match="BATCHWORK_SHARED") as paused:
                batchwork.run(prompts(3000), **given, max_wait=1.0, on_event=stop_at)
            assert paused.value.cause == "accounts"
            kept = paused.value.results.accounting.succeeded
            paused.value.results.close()
            assert 0 < kept < 3000
            own.start()
            again = batchwork.run(prompts(400), **given)
            assert again.accounting.succeeded == 400
    finally:
        own.close()
