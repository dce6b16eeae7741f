"""The wire of OpenAI's chat completions, which a dozen servers speak: shared by `openai` and `local`."""

from __future__ import annotations

from multidict import istr

from batchwork.backends._catalog import catalog, near, or_list
from batchwork.backends._chat.batches import FileBatches
from batchwork.backends._chat.failures import kind_of
from batchwork.backends._chat.reply import reply_in
from batchwork.backends._chat.request_body import ChatBody, Dialect
from batchwork.backends._headers import OPENAI_LIMITS

__all__ = ["ChatBackend", "ChatBody", "Dialect"]


class ChatBackend(FileBatches):
    """One model of one server that speaks chat completions."""

    path = "chat/completions"
    batches_path = "batches"
    request_id_header = istr("x-request-id")
    limit_headers = OPENAI_LIMITS
    reply_in = staticmethod(reply_in)
    kind_of = staticmethod(kind_of)

    def not_found_hint(self, model: str | None) -> str:
        """The address may be wrong, and the model."""
        if model is None:
            return "is the base_url right?"
        others = near(model, catalog().ids["openai"])
        return f"is the model {model!r} right, and the base_url?" + (f" There is {or_list(others)}." if others else "")
