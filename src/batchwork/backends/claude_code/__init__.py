"""The real Claude Code program, one process per call: for those who pay by subscription.

`claude-code:sonnet`, or with its own deadlines `claude-code:sonnet?base_timeout=90&timeout_per_1k_chars=5`.
"""

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from batchwork.backends import Setup, options_in
from batchwork.backends._catalog import catalog, or_list
from batchwork.backends._failures import other_model
from batchwork.backends.claude_code.command import (
    NO_SYSTEM,
    arguments,
    call_environment,
    environment,
    prompt_of,
    system_of,
)
from batchwork.backends.claude_code.folder import Folder
from batchwork.backends.claude_code.output import INSTALL, reply_in
from batchwork.core.address import HIDDEN, has_user, secrets_in, secrets_to_hide, shown_address
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Clock, Traits
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_OPTIONS = {"base_timeout": 120.0, "timeout_per_1k_chars": 10.0}  # seconds
TRAITS = Traits(
    name="claude-code",
    limited=True,
    price_provider="anthropic",
    sampling=frozenset(),
    overhead_tokens=2_000,
    cache_writes=True,
    default_in_flight=2,
)


class ClaudeCodeBackend:
    """Calls the `claude` program without tools, memory or retries of its own."""

    def __init__(
        self,
        model: str,
        *,
        clock: Clock,
        program: str,
        environment: Mapping[str, str],
        base_timeout_s: float,
        timeout_per_1k_chars_s: float,
        notice: str | None = None,
    ) -> None:
        self._model = model
        self._names = frozenset({"", model, f"claude-code:{model}"})
        self._clock = clock
        self._program = program
        self._environment = dict(environment)
        self._base_timeout_s = base_timeout_s
        self._per_1k_chars_s = timeout_per_1k_chars_s
        address = self._environment.get("ANTHROPIC_BASE_URL", "")
        self._secrets = (*secrets_in(address), *filter(None, [self._environment.get("ANTHROPIC_API_KEY")]))
        self._folder: Folder | None = None
        self.traits = replace(describe(model, None), notice=notice)

    def timeout_for(self, request: Request) -> float:
        """Seconds that a call may take, where the run allows as much: more for a longer prompt."""
        length = len(prompt_of(request)) + len(system_of(request))
        return self._base_timeout_s + length / 1000.0 * self._per_1k_chars_s

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        """Answer one request with one process.

        Raises:
            BackendError: the call failed; its failure says how.
        """
        if request.model.partition("?")[0] not in self._names:
            other_model(self._model, request.model)
        prompt = prompt_of(request)
        self._folder = folder = self._folder or Folder()
        env = call_environment(self._environment, request)
        timeout_s = self.timeout_for(request)
        try:
            with folder.file_of(system_of(request) or NO_SYSTEM) as system:
                options = arguments(self._model, request, system, ceiling_nano)
                async with asyncio.timeout(timeout_s):
                    stdout, stderr, code = await self._run(options, env, prompt, folder)
        except TimeoutError:
            waited = f"{timeout_s:.0f}" if timeout_s >= 10 else f"{timeout_s:.2g}"
            longer = "--timeout of a benchmark, ?base_timeout= of a model"
            problem = f"CLI timed out after {waited} s: shorten the prompt or give it longer ({longer})"
            raise BackendError(Failure(kind=FailureKind.TIMEOUT, message=problem, unconfirmed=True)) from None
        stdout, stderr = (self._without_secrets(text, is_error=code != 0) for text in (stdout, stderr))
        return reply_in(stdout, stderr, code, request, self._clock.utc())

    def _without_secrets(self, output: bytes, *, is_error: bool) -> bytes:
        for secret in secrets_to_hide(self._secrets, is_error=is_error):
            output = output.replace(secret, HIDDEN.encode())
        return output

    async def aclose(self) -> None:
        """Remove the working folder."""
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    async def _run(
        self, options: list[str], env: Mapping[str, str], prompt: str, folder: Folder
    ) -> tuple[bytes, bytes, int]:
        try:
            process = await asyncio.create_subprocess_exec(
                self._program,
                *options,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=folder.empty,
                env=env,
                start_new_session=True,  # a group of its own, so that its children end with it
            )
        except OSError as error:
            problem = f"claude CLI not found or not executable ({error}): {INSTALL}"
            raise BackendError(Failure(kind=FailureKind.REJECTED, message=problem)) from error
        try:
            stdout, stderr = await process.communicate(prompt.encode("utf-8", "replace"))
        except BaseException:
            with suppress(ProcessLookupError, PermissionError):  # it may have gone meanwhile
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        assert process.returncode is not None
        return stdout, stderr, process.returncode


def describe(name: str, base_url: str | None) -> Traits:
    """What is known before it is opened."""
    del base_url
    model = name.partition("?")[0]
    return replace(TRAITS, price_model=catalog().priced_as.get(model, model))


def open_backend(name: str, setup: Setup) -> ClaudeCodeBackend:
    """The program for one of its models.

    Raises:
        ConfigError: the program is not there, or the model or an option is unknown.
    """
    model, options = options_in(name, dict.fromkeys(_OPTIONS, float), "claude-code")
    ids = catalog().ids
    if model not in ids["claude-code"] and model not in ids["anthropic"]:
        known = or_list([f"claude-code:{alias}" for alias in ids["claude-code"]])
        raise ConfigError(
            f"unknown model 'claude-code:{model}'; there is {known}, or a full id like {ids['anthropic'][0]}"
        )
    timeouts = {**_OPTIONS, **options}
    settings = setup.settings
    program = shutil.which(settings.claude_program, path=settings.program_environment.get("PATH", os.defpath))
    if program is None:
        raise ConfigError(f"claude CLI not found: there is no program {settings.claude_program!r}; {INSTALL}")
    env = environment(settings, base_url=setup.base_url, api_key=setup.api_key)
    if has_user(env.get("ANTHROPIC_BASE_URL", "")):
        raise ConfigError("base_url must not hold a user or password: give the key as api_key")
    return ClaudeCodeBackend(
        model,
        clock=setup.clock,
        program=program,
        environment=env,
        base_timeout_s=timeouts["base_timeout"],
        timeout_per_1k_chars_s=timeouts["timeout_per_1k_chars"],
        notice=_notice(env, setup.max_in_flight),
    )


def _notice(env: Mapping[str, str], max_in_flight: int) -> str:
    """Who pays, which a user must not have to guess; and that a plan bears only so many at once."""
    if "ANTHROPIC_API_KEY" in env:
        paid = "claude-code: the program uses an API key; calls are billed to its owner"
    else:
        paid = (
            "claude-code: the program uses its own login; the costs shown are its estimate of what the API would charge"
        )
    if "ANTHROPIC_BASE_URL" in env:
        paid += f", at {shown_address(env['ANTHROPIC_BASE_URL'])}"
    many = f"; {max_in_flight} at once may hit the plan's rate limit, 2 to 4 is what plans bear"
    return paid + (many if max_in_flight > 4 else "")
