"""The founding address of the prompts door: everything lives in `batchwork.prompts`."""

from batchwork.prompts import *  # noqa: F403
from batchwork.prompts import __all__ as __all__  # noqa: PLC0414
