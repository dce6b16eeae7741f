"""One measured run of a peer against a rate-limited provider, in the peers' environment: its times as JSON.

`semaphore`: 100 calls at once over the Anthropic SDK with its own retries; `gather`: the same SDK, a gather per 100;
`litellm`: litellm's Router with its own retries and cooldowns.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

MODEL = "claude-haiku-5-5"
IN_FLIGHT = 100


async def main(way: str, url: str, requests: int) -> int:
    prompts = [f"What is the capital of country number {i}?" for i in range(requests)]
    ask = _litellm(url) if way == "litellm" else _sdk(url)
    if way == "gather":
        outcomes = []
        for start in range(0, requests, IN_FLIGHT):
            outcomes += await asyncio.gather(*map(ask, prompts[start : start + IN_FLIGHT]))
        return sum(outcomes)
    semaphore = asyncio.Semaphore(IN_FLIGHT)

    async def guarded(prompt: str) -> bool:
        async with semaphore:
            return await ask(prompt)

    return sum(await asyncio.gather(*map(guarded, prompts)))


def _sdk(url: str):  # type: ignore[no-untyped-def]
    import anthropic

    client = anthropic.AsyncAnthropic(base_url=url, api_key="none")

    async def ask(prompt: str) -> bool:
        try:
            await client.messages.create(model=MODEL, max_tokens=64, messages=[{"role": "user", "content": prompt}])
        except anthropic.APIError:
            return False
        return True

    return ask


def _litellm(url: str):  # type: ignore[no-untyped-def]
    import litellm

    litellm.suppress_debug_info = True
    parameters = {"model": f"anthropic/{MODEL}", "api_base": url, "api_key": "none"}
    router = litellm.Router(model_list=[{"model_name": "m", "litellm_params": parameters}], num_retries=2)

    async def ask(prompt: str) -> bool:
        try:
            await router.acompletion(model="m", max_tokens=64, messages=[{"role": "user", "content": prompt}])
        except Exception:
            return False
        return True

    return ask


if __name__ == "__main__":
    begun = time.monotonic()
    succeeded = asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
    print(json.dumps({"seconds": time.monotonic() - begun, "succeeded": succeeded}))
