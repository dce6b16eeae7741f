"""Every error a caller of batchwork may want to tell apart."""


class BatchworkError(Exception):
    """The root of all errors that batchwork raises on purpose."""


class ConfigError(BatchworkError, ValueError):
    """An argument, option or setting that cannot be used; nothing was sent."""


class InputError(BatchworkError):
    """The user's data cannot be read or written."""
