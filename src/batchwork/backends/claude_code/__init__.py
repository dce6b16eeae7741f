"""The real Claude Code program, one process per call: for those who pay by subscription.

`claude-code:sonnet`, or with its own deadlines `claude-code:sonnet?base_timeout=90&timeout_per_1k_chars=5`.
"""

import asyncio
import os
import shutil
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field, replace

from batchwork.backends import Setup, options_in
from batchwork.backends._catalog import catalog
from batchwork.backends._failures import other_model
from batchwork.backends.claude_code import command
from batchwork.backends.claude_code.command import Folder, prompt_of, system_of
from batchwork.backends.claude_code.output import INSTALL, reply_in
from batchwork.child_process import end_process, start_process
from batchwork.core.address import HIDDEN, has_user, secrets_in, secrets_to_hide, shown_address
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Clock, Traits
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.core.words import or_list

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


@dataclass(kw_only=True, eq=False)
class ClaudeCodeBackend:
    """Calls the `claude` program without tools, memory or retries of its own."""

    model: str
    clock: Clock
    program: str
    environment: Mapping[str, str] = field(repr=False)
    base_timeout_s: float
    timeout_per_1k_chars_s: float
    notice: InitVar[str | None] = None

    def __post_init__(self, notice: str | None) -> None:
        key, address = self.environment.get("ANTHROPIC_API_KEY"), self.environment.get("ANTHROPIC_BASE_URL", "")
        self._names = frozenset({"", self.model, f"claude-code:{self.model}"})
        self._secrets = (*secrets_in(address), *filter(None, [key]))
        self._folder: Folder | None = None
        self.traits = replace(describe(self.model, None), notice=notice)

    def timeout_for(self, request: Request) -> float:
        """Seconds that a call may take, where the run allows as much: more for a longer prompt."""
        length = len(prompt_of(request)) + len(system_of(request))
        return self.base_timeout_s + length / 1000.0 * self.timeout_per_1k_chars_s

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        if request.model.partition("?")[0] not in self._names:
            other_model(self.model, request.model)
        prompt = prompt_of(request)
        self._folder = folder = self._folder or Folder()
        env = command.call_environment(self.environment, request)
        timeout_s = self.timeout_for(request)
        try:
            with folder.file_of(system_of(request) or command.NO_SYSTEM) as system:
                options = command.arguments(self.model, request, system, ceiling_nano)
                async with asyncio.timeout(timeout_s):
                    stdout, stderr, code = await self._run(options, env, prompt, folder)
        except TimeoutError:
            waited = f"{timeout_s:.0f}" if timeout_s >= 10 else f"{timeout_s:.2g}"
            longer = "--timeout of a benchmark, ?base_timeout= of a model"
            problem = f"CLI timed out after {waited} s: shorten the prompt or give it longer ({longer})"
            raise BackendError(Failure(kind=FailureKind.TIMEOUT, message=problem, unconfirmed=True)) from None
        stdout, stderr = (self._without_secrets(text, is_error=code != 0) for text in (stdout, stderr))
        return reply_in(stdout, stderr, code, request, self.clock.utc())

    def _without_secrets(self, output: bytes, *, is_error: bool) -> bytes:
        for secret in secrets_to_hide(self._secrets, is_error=is_error):
            output = output.replace(secret, HIDDEN.encode())
        return output

    async def aclose(self) -> None:
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    async def _run(
        self, options: list[str], env: Mapping[str, str], prompt: str, folder: Folder
    ) -> tuple[bytes, bytes, int]:
        try:
            process = await start_process(
                self.program,
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
            await end_process(process, group=True)
            raise
        assert process.returncode is not None
        return stdout, stderr, process.returncode


def describe(name: str, _base_url: str | None) -> Traits:
    """What is known before it is opened."""
    model = name.partition("?")[0]
    return replace(TRAITS, price_model=catalog().priced_as.get(model, model))


def open_backend(name: str, setup: Setup) -> ClaudeCodeBackend:
    """The program for one of its models."""
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
    env = command.environment(settings, base_url=setup.base_url, api_key=setup.api_key)
    if has_user(env.get("ANTHROPIC_BASE_URL", "")):
        raise ConfigError(
            "base_url must not hold a user or password: set the key in the environment (in Python also api_key=)"
        )
    return ClaudeCodeBackend(
        model=model,
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
