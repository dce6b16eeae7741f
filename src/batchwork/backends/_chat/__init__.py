"""The wire of OpenAI's chat completions, which a dozen servers speak: shared by `openai` and `local`."""

from batchwork.backends._chat.asking import Dialect
from batchwork.backends._chat.backend import ChatBackend

__all__ = ["ChatBackend", "Dialect"]
