"""One kind of model call as the live path sees it: the defaults of most providers, and what each must say itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from math import ceil
from typing import Any, ClassVar

from multidict import CIMultiDict

from batchwork.simulator.bill import Usage
from batchwork.simulator.buckets import RateLimits
from batchwork.simulator.clock import real_s
from batchwork.simulator.errors import Refused
from batchwork.simulator.prompt import Answer, Prompt
from batchwork.simulator.providers import Provider
from batchwork.simulator.world import World


class Wire(ABC):
    """A call that asks a model, in the words of one provider."""

    api: str  # by the names of the price table
    path: str
    provider: ClassVar[Provider]
    limited_as: ClassVar[str]  # whose limits per minute hold
    jointly: ClassVar[bool] = False  # one limit for all tokens, charged on arrival
    request_id_header: ClassVar[str]
    error: Callable[..., dict[str, Any]]  # the body of a refusal, by it and the id of the request

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def limits(self) -> RateLimits:
        """The limits that its calls count against."""
        return self._world.limits[self.limited_as]

    def authorize(self, headers: Mapping[str, str]) -> None:
        """Refuse a wrong key, and none where one is required."""
        key = self.key_in(headers)
        if not key and self._world.config.key_required:
            raise self.provider.fault("no_key")
        if not self._world.config.takes(key):
            raise self.provider.fault("401")

    @abstractmethod
    def key_in(self, headers: Mapping[str, str]) -> str:
        """The key that a call shows; empty without one."""

    @abstractmethod
    def parse(self, headers: Mapping[str, str], body: Any, model: str = "") -> Prompt:
        """The prompt of a live call; `model` is the one in the path, where it stands there."""

    def admit(self, prompt: Prompt) -> tuple[float, str]:
        """Seconds to wait and for what; (0, "") takes the call in."""
        return self.limits.admit(self.charged(prompt), real_s(), jointly=self.jointly)

    def charged(self, prompt: Prompt) -> int:
        """The tokens that a call takes from the limit when it arrives."""
        return prompt.input_tokens

    def produced(self, usage: Usage) -> None:  # noqa: B027 - most charge on arrival
        """Note what an answer took, where output counts once it is produced."""

    def limit_headers(self) -> CIMultiDict[str]:
        """The rate-limit family; empty where limits are not told."""
        return CIMultiDict()

    def served(self, prompt: Prompt) -> dict[str, str]:  # noqa: ARG002
        """The headers that say how a call was served; mostly the answer says it."""
        return {}

    @abstractmethod
    def limited(self, what: str, wait_s: float) -> Refused:
        """A refusal by the rate limit."""

    def error_headers(self, refused: Refused) -> dict[str, str]:
        """The headers of a refusal."""
        return {} if refused.retry_after_s is None else {"retry-after": str(ceil(refused.retry_after_s))}

    @abstractmethod
    def answer(
        self, prompt: Prompt, answer: Answer, usage: Usage, number: int, batched_at: float | None = None
    ) -> dict[str, Any]:
        """The whole body; `batched_at` is when its batch had it."""

    def events(self, prompt: Prompt, body: dict[str, Any]) -> Iterator[bytes]:  # noqa: ARG002
        """The body as server-sent events."""
        raise Refused(400, "The simulator answers this call whole")

    def error_event(self) -> bytes:
        """An error that comes after the 200."""
        return b""

    @abstractmethod
    def model(self, name: str) -> dict[str, Any]:
        """One model object."""

    def models(self, query: Mapping[str, str]) -> Any:
        """The list of models."""
        return self.page([self.model(name) for name in self.provider.models], query)

    @abstractmethod
    def page(self, items: list[dict[str, Any]], query: Mapping[str, str]) -> Any:
        """A page of a list of models or batches."""
