"""The faults there are: what each does, and in which scope it can happen.

A scope is a kind of call (`live`, `create`, ...) or `item`, the single request inside a batch.
"""

SCOPES = ("live", "create", "poll", "list", "results", "cancel", "files", "item")
"""Model calls, the calls about batches and files, and the single requests inside a batch."""

HTTP_KINDS = frozenset(
    {"400", "401", "403", "404", "408", "409", "413", "422", "429", "quota", "500", "503", "504", "529"}
)
"""Answered with that status and nothing billed; `413` is not JSON, `quota` must not be retried."""

AFTER_KINDS = {f"{status}_after": status for status in ("408", "409", "500", "503", "504", "529")}
"""The work is done and billed (the batch is created), and answered with that status all the same."""

WIRE_KINDS = frozenset({"reset", "reset_after", "hang_after", "unreadable_after", "slow", "truncated", "sse_error"})
"""`reset` before anything is processed; `reset_after`, `hang_after` (silence), `unreadable_after` (200 with a web
page) and `truncated` are processed and billed."""

HUGE_HEADERS = "huge_headers"
"""A complete, billed answer with a header longer than an ordinary HTTP client reads."""

CONTENT_KINDS = frozenset(
    {"refusal", "max_tokens", "thinking", "empty", "wrong_case", "malformed", "pause_turn", "context_window"}
)
"""A complete, billed answer that is not what was hoped for."""

SHAPE_KINDS = frozenset({"null", "no_usage", "zero_usage"})
"""A billed answer whose object is damaged: its content is null, its usage is missing or all zeros."""

LOST_LINES = frozenset({"missing", "not_json"})
"""A billed request of a batch whose result line never appears, or is never JSON."""

LATE_KINDS = frozenset({"expired", "canceled"})
"""A request of a batch that never ran, and whose line says so; nothing billed."""

LINE_KINDS = LOST_LINES | LATE_KINDS | {"duplicated"}
"""What only the line of a request inside a batch can be; `duplicated` stands there twice."""

DOWNLOAD_KINDS = frozenset({"gone", "short", "shuffled", "trickle"})
"""A download of results: never again (404), a third of its lines missing this once, in another order, slowly."""

LOW_COUNTS = "low_counts"
"""The counts of a batch are lower than the truth."""

LASTING_KINDS = frozenset({"gone", LOW_COUNTS})
"""Drawn once per batch and true of it ever after."""

KINDS = (
    HTTP_KINDS
    | frozenset(AFTER_KINDS)
    | WIRE_KINDS
    | CONTENT_KINDS
    | SHAPE_KINDS
    | LINE_KINDS
    | DOWNLOAD_KINDS
    | {HUGE_HEADERS, LOW_COUNTS}
)
_CALLS = tuple(scope for scope in SCOPES if scope != "item")


def scopes_of(kind: str) -> tuple[str, ...]:
    """Where a fault can happen."""
    if kind in HTTP_KINDS:
        return SCOPES
    if kind in CONTENT_KINDS or kind in SHAPE_KINDS:
        return ("live", "item")
    if kind in LINE_KINDS:
        return ("item",)
    if kind in DOWNLOAD_KINDS:
        return ("results",)
    if kind == LOW_COUNTS:
        return ("poll",)
    return ("live",) if kind == "sse_error" else _CALLS
