"""The wire of OpenAI's chat completions, which a dozen servers speak: shared by `openai` and `local`."""

import msgspec
from multidict import istr

from batchwork.backends._catalog import catalog, near, or_list
from batchwork.backends._chat.batches import Batch, FileBatches
from batchwork.backends._chat.reply import kind_of, reply_in
from batchwork.backends._chat.request_body import ChatBody, Dialect
from batchwork.backends._headers import OPENAI_LIMITS
from batchwork.backends._wire import Wire

__all__ = ["ChatBackend", "ChatBody", "Dialect"]


class ChatBackend(FileBatches):
    """One model of one server that speaks chat completions."""

    wire = Wire(
        path="chat/completions",
        batches_path="batches",
        batch=msgspec.json.Decoder(Batch),
        reply_in=reply_in,
        kind_of=kind_of,
        limit_headers=OPENAI_LIMITS,
        request_id_header=istr("x-request-id"),
    )

    def not_found_hint(self, model: str | None) -> str:
        """The address may be wrong, and the model."""
        if model is None:
            return "is the base_url right?"
        others = near(model, catalog().ids["openai"])
        return f"is the model {model!r} right, and the base_url?" + (f" There is {or_list(others)}." if others else "")
