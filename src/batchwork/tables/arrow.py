"""The one place where pyarrow is imported, and what to say when it is not there."""

from importlib import import_module
from typing import Any

from batchwork.core.errors import ConfigError


def pyarrow() -> Any:
    """The pyarrow module with `parquet` loaded.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError as error:
        raise ConfigError("Parquet files need pyarrow: pip install 'batchwork[parquet]'") from error
