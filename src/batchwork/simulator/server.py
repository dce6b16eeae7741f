"""Run the simulator: in a background thread as a context manager, or in the caller's own event loop."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from inspect import isawaitable
from typing import Any, Self

from aiohttp import web

from batchwork.simulator.config import SimulatorConfig
from batchwork.simulator.faults import Faults
from batchwork.simulator.routes import Routes
from batchwork.simulator.world import World

_LARGEST_BODY = 2**30  # the provider's own limits answer 413 long before this one cuts a connection


class Simulator:
    """A wire-faithful provider on loopback, with faults, limits, batches and a bill.

    `with Simulator(SimulatorConfig(persona="echo")) as sim: ... sim.anthropic_url ... sim.log()`
    """

    def __init__(self, config: SimulatorConfig | None = None, **settings: Any) -> None:
        """Take a configuration, or its settings as keywords; nothing is started yet."""
        if config is not None and settings:
            raise TypeError("give a SimulatorConfig or keywords, not both")
        self.config = config or SimulatorConfig(**settings)
        self._world = World(self.config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """Where it listens, without a trailing slash."""
        if not self._world.base_url:
            raise RuntimeError("the simulator is not running; use it as a context manager")
        return self._world.base_url

    @property
    def anthropic_url(self) -> str:
        """The base_url for Anthropic clients."""
        return self.url

    @property
    def openai_url(self) -> str:
        """The base_url for OpenAI clients."""
        return f"{self.url}/v1"

    def service_url(self, name: str) -> str:
        """The base_url for batchwork of a service, by the prefix of its models: `groq` or `gemini` for example."""
        bases = {
            "anthropic": "",
            "azure": "azure/openai/v1",
            "azure-classic": "azure/openai",
            "bedrock": "bedrock",
            "gemini": "gemini",
            "groq": "groq/openai/v1",
            "openai": "v1",
        }
        return f"{self.url}/{bases.get(name, f'{name}/v1')}".rstrip("/")

    def log(self) -> dict[str, Any]:
        """What was received, answered and billed, as `/_sim/log` says it; batches catch up first."""
        return dict(self._call(self._world.report))

    def reset(self) -> None:
        """Forget everything and go back to the faults of the configuration."""
        self._call(self._world.reset)

    def set_faults(self, faults: Faults | Mapping[str, float] | str) -> None:
        """Replace the plan: `"529=0.1"`, `{"529": 0.1, "create:reset_after": 1}` or `Faults`."""
        if isinstance(faults, str):
            faults = Faults.parse(faults)
        plan = faults if isinstance(faults, Faults) else Faults.of(faults)
        self._call(self._world.faults.replace, plan)

    def next_faults(self, scope: str, kinds: Iterable[str]) -> None:
        """Let the next calls of a scope (`live`, `create`, `poll`, `results`, ...) meet exactly these faults."""
        self._call(self._world.faults.queue, scope, list(kinds))

    def advance(self, seconds: float) -> None:
        """Let simulated time pass at once."""
        self._call(self._world.clock.step, seconds)

    async def serve_forever(self, on_ready: Callable[[str], None] | None = None) -> None:
        """Serve in the running loop until cancelled; `on_ready` gets the address."""
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        routes = Routes(self._world)
        server = web.Server(routes, request_factory=_request, access_log=None)
        runner = web.ServerRunner(server, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, self.config.host, self.config.port, backlog=4096)
            await site.start()
            host, port = runner.addresses[0][:2]
            self._world.base_url = f"http://{host}:{port}"
            if on_ready is not None:
                on_ready(self._world.base_url)
            await self._stop.wait()
        finally:
            await runner.cleanup()
            self._world.base_url = ""

    def __enter__(self) -> Self:
        ready = threading.Event()
        failed: list[BaseException] = []

        def main() -> None:
            try:
                asyncio.run(self.serve_forever(lambda _: ready.set()))
            except BaseException as error:
                failed.append(error)
            finally:
                ready.set()

        self._thread = threading.Thread(target=main, name="batchwork-simulator", daemon=True)
        self._thread.start()
        ready.wait()
        if failed:
            self._thread.join()
            raise failed[0]
        return self

    def __exit__(self, *error: object) -> None:
        assert self._loop is not None and self._stop is not None and self._thread is not None  # noqa: PT018
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _call(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Do something in the loop of the server, whichever thread we are in."""

        async def do() -> Any:
            done = work(*arguments)
            return await done if isawaitable(done) else done

        loop = self._loop
        if loop is None or not loop.is_running():
            return asyncio.run(do())  # not started or already stopped: nobody else touches the state
        told: Future[Any] = Future()
        begun: list[asyncio.Task[None]] = []  # the loop itself does not keep it

        async def tell() -> None:
            try:
                told.set_result(await do())
            except BaseException as error:  # whoever waits gets it, also when the server is stopped meanwhile
                told.set_exception(error)

        # What is to be done is made in the loop: a signal in between leaves nothing that was never awaited.
        loop.call_soon_threadsafe(lambda: begun.append(loop.create_task(tell())))
        return told.result()


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: "asyncio.Task[None]") -> web.BaseRequest:
    return web.BaseRequest(message, payload, protocol, writer, task, task.get_loop(), client_max_size=_LARGEST_BODY)
