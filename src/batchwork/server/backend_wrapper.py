"""A backend with something around every call."""

from __future__ import annotations

from batchwork.core.ports import Backend, TokenCounter, Traits
from batchwork.core.reply import Reply
from batchwork.core.request import Request


class BackendWrapper:
    """Passes everything on to another backend. Subclasses do more in `complete`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        if isinstance(backend, TokenCounter):  # counts where the backend counts, and is no counter where it is none
            self.count_tokens = backend.count_tokens

    @property
    def traits(self) -> Traits:
        """Those of the backend."""
        return self._backend.traits

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        """Answer one request."""
        return await self._backend.complete(request, ceiling_nano=ceiling_nano)

    async def aclose(self) -> None:
        """Close the backend."""
        await self._backend.aclose()
