"""The only formatter of lengths of time."""


def duration(seconds: float, *, second: str = "s") -> str:
    """A length of time in its two largest units; `second` is the word for seconds."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} {second}"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} {second}"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def rough_duration(seconds: float) -> str:
    """A length of time in one unit, for waits whose exact length says nothing."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
