import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.errors import ConfigError
from batchwork.core.request import DEFAULT_MAX_TOKENS, Attachment, Message, Request, Schema, digest, key_of

_BASE = Request.ask("name a river", model="mock:echo")


def _with(**changed: object) -> Request:
    fields: dict[str, object] = {"messages": _BASE.messages, "model": _BASE.model} | changed
    return Request(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "mock:other"},
        {"messages": (Message("user", "name a lake"),)},
        {"messages": (Message("assistant", "name a river"),)},
        {"messages": (Message("user", "name a river"), Message("user", "again"))},
        {"system": "be brief"},
        {"max_tokens": 5},
        {"schema": Schema.of({"type": "object"})},
        {"schema": Schema.of({"type": "object"}, name="other")},
        {"sampling": {"temperature": 0}},
        {"extra_body": {"top_k": 1}},
        {"documents": (Attachment(media_type="text/plain", digest=digest(b"a"), text="a"),)},
        {"documents": (Attachment(media_type="text/plain", digest=digest(b"b"), text="b"),)},
        {"documents": (Attachment(media_type="text/plain", digest=digest(b"a"), data=b"a"),)},
        {"documents": (Attachment(media_type="text/plain", digest=digest(b"a"), text="a", citations=True),)},
    ],
)
def test_everything_that_influences_the_answer_changes_the_key(changed: dict[str, object]) -> None:
    assert _with(**changed).key != _BASE.key


def test_to_say_nothing_of_max_tokens_is_to_say_the_usual_number() -> None:
    assert _with(max_tokens=DEFAULT_MAX_TOKENS).key == _BASE.key


def test_a_label_does_not() -> None:
    assert _with(label="row 7").key == _BASE.key


def test_the_occurrence_changes_the_key_but_not_the_fingerprint() -> None:
    second = _with(occurrence=1)
    assert second.key != _BASE.key
    assert second.fingerprint == _BASE.fingerprint
    assert second.key == key_of(_BASE.fingerprint, 1)


def test_the_key_is_the_same_tomorrow() -> None:
    assert _BASE.key == "593b42b5ae28c6104ac005688a36e5c2"


def test_the_order_of_a_dicts_keys_says_nothing() -> None:
    assert _with(sampling={"a": 1, "b": 2}).key == _with(sampling={"b": 2, "a": 1}).key


@given(st.lists(st.text(max_size=8), min_size=2, max_size=2, unique=True))
def test_different_prompts_have_different_keys(prompts: list[str]) -> None:
    assert Request.ask(prompts[0]).key != Request.ask(prompts[1]).key


@given(st.text(max_size=5), st.text(max_size=5))
def test_where_one_field_ends_and_the_next_begins_counts(first: str, second: str) -> None:
    joined = Request.ask(first + second, system="")
    apart = Request.ask(second, system=first)
    assert (joined.key == apart.key) == (first == "")


def test_a_request_without_a_message_is_none() -> None:
    with pytest.raises(ConfigError, match="at least one message"):
        Request(messages=())


def test_a_request_for_no_tokens_is_none() -> None:
    with pytest.raises(ConfigError, match="max_tokens"):
        Request.ask("x", max_tokens=0)


@pytest.mark.parametrize("body", [[], "x", 5, {"a": object()}, {"a": 10**30}, {"a": "\ud800"}])
def test_what_is_not_a_json_schema_is_a_clear_error(body: object) -> None:
    with pytest.raises(ConfigError, match="schema"):
        Schema.of(body)


def test_a_file_is_known_again_without_being_extracted_and_as_ever() -> None:
    schema = Schema.of({"type": "object"})
    question = Request.ask(
        "What?", model="m", system="s", max_tokens=77, schema=schema, sampling={"t": 1.0}, extra_body={"b": 1, "a": 2}
    )
    known = question.file_fingerprint(b"data", title="a.pdf", pdf="native", cited=True)
    assert known.hex() == "5cab3507fe3566e2ccb019a959aca9b6"  # of journals that are written: it never changes
    others = [
        question.file_fingerprint(b"other", title="a.pdf", pdf="native", cited=True),
        question.file_fingerprint(b"data", title=None, pdf="native", cited=True),
        question.file_fingerprint(b"data", title="a.pdf", pdf="text", cited=True),
        question.file_fingerprint(b"data", title="a.pdf", pdf="native", cited=False),
        msgspec.structs.replace(question, model="n").file_fingerprint(b"data", title="a.pdf", pdf="native", cited=True),
    ]
    assert known not in others
    assert len(set(others)) == len(others)
