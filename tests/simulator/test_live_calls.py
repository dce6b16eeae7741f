"""Many calls at once under faults of every kind: the log accounts for each of them."""

import asyncio

import aiohttp

from batchwork.simulator import Faults
from tests.simulator.wire import ANTHROPIC, message

PLAN = (
    "429=0.02,529=0.02,500=0.02,503=0.02,504=0.02,413=0.02,400=0.02,reset=0.02,reset_after=0.02,truncated=0.02,slow=0.01,"
    "refusal=0.02,max_tokens=0.02,empty=0.02,malformed=0.02,thinking=0.02"
)


async def ask(session, url, number):
    try:
        async with session.post(
            f"{url}/v1/messages", json=message(f"question {number}"), headers=ANTHROPIC
        ) as response:
            body = await response.read()
            return (
                (await response.json())["usage"]["output_tokens"]
                if response.status == 200 and body
                else response.status
            )
    except aiohttp.ClientError:
        return "cut"


async def storm(url, count):
    connector = aiohttp.TCPConnector(limit=50)
    async with aiohttp.ClientSession(connector=connector) as session:
        return await asyncio.gather(*(ask(session, url, number) for number in range(count)))


def test_every_call_of_a_storm_is_in_the_log_once_and_billed_if_it_was_answered(start):
    sim = start(faults=Faults.parse(PLAN), seed=11, time_scale=20)
    got = asyncio.run(storm(sim.url, 500))
    log = sim.log()
    assert log["total"]["received"] == len(log["prompts"]) == 500
    answered = [entry for entry in log["requests"] if entry["answered"]]
    assert len(answered) == sum(isinstance(one, int) and one < 400 for one in got)
    assert all(entry["billed"] for entry in answered)
    assert sum(one == "cut" for one in got) == sum(
        entry["fault"] in ("reset", "reset_after", "truncated") for entry in log["requests"]
    )
    unconfirmed = [entry for entry in log["requests"] if entry["billed"] and not entry["answered"]]
    assert {entry["fault"] for entry in unconfirmed} == {"reset_after", "truncated"}
    assert {entry["fault"] for entry in log["requests"]} >= {"429", "529", "413", "reset", "refusal", "thinking", None}
