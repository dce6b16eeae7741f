"""A backend with something around every call."""

from collections.abc import Callable, Coroutine
from typing import Any

from batchwork.core.ports import Backend, TokenCounter, Traits
from batchwork.core.reply import Reply


class BackendWrapper:
    """Another backend, with another `complete`. Counts tokens where that one counts them."""

    def __init__(self, backend: Backend, complete: Callable[..., Coroutine[Any, Any, Reply]]) -> None:
        self._backend = backend
        self.complete = complete
        self.aclose = backend.aclose
        if isinstance(backend, TokenCounter):
            self.count_tokens = backend.count_tokens

    @property
    def traits(self) -> Traits:
        """Those of the backend."""
        return self._backend.traits
