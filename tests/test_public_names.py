"""The public surface: a name that comes, goes or changes is a decision, and shows here."""

import inspect

import batchwork

_NAMES = [
    "Attachment",
    "BatchJob",
    "BatchManager",
    "BatchResult",
    "BatchResults",
    "BatchworkError",
    "CallbackError",
    "ConfigError",
    "Deferred",
    "Embedding",
    "Embeddings",
    "Failed",
    "Failure",
    "FailureKind",
    "InputError",
    "JournalDamagedError",
    "JournalError",
    "JournalLockedError",
    "JournalWriteError",
    "Message",
    "Outcome",
    "Pending",
    "PriceUnknownError",
    "Reply",
    "Request",
    "Results",
    "RunPaused",
    "Skipped",
    "Status",
    "Succeeded",
    "ToolCall",
    "Usage",
    "aembed",
    "arun",
    "astream",
    "batch",
    "embed",
    "open_results",
    "run",
    "stream",
]


def test_the_public_names_are_these() -> None:
    assert sorted(batchwork.__all__) == _NAMES


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in batchwork.__all__:
        assert inspect.getdoc(getattr(batchwork, name)), name


def test_every_error_can_be_caught_by_one_name() -> None:
    errors = [getattr(batchwork, name) for name in batchwork.__all__]
    raised = [thing for thing in errors if inspect.isclass(thing) and issubclass(thing, Exception)]
    assert all(issubclass(error, batchwork.BatchworkError) for error in raised)
    assert len(raised) >= 9


def test_every_public_name_is_listed_before_it_is_used() -> None:
    assert {*batchwork.__all__, "__version__"} <= set(dir(batchwork))
