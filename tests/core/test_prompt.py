import pytest

from batchwork.core.errors import ConfigError
from batchwork.core.prompt import Defaults, intake, intakes, prepare, refuse_one
from batchwork.core.request import DEFAULT_MAX_TOKENS, Message, Request

_DEFAULTS = Defaults(model="mock:echo", system="be brief", max_tokens=50)


def test_a_string_is_one_user_message_with_the_runs_defaults() -> None:
    request = prepare("hello", _DEFAULTS)
    assert request.messages == (Message("user", "hello"),)
    assert (request.model, request.system, request.max_tokens) == ("mock:echo", "be brief", 50)


def test_a_list_of_messages_is_a_conversation() -> None:
    request = prepare([{"role": "user", "content": "a"}, Message("assistant", "b")], _DEFAULTS)
    assert request.messages == (Message("user", "a"), Message("assistant", "b"))


def test_a_dict_may_say_more_than_its_prompt() -> None:
    request = prepare({"prompt": "a", "system": "s", "max_tokens": 7, "label": "row 3"}, _DEFAULTS)
    assert (request.system, request.max_tokens, request.label) == ("s", 7, "row 3")


def test_none_in_a_dict_means_the_runs_default() -> None:
    request = prepare({"prompt": "a", "max_tokens": None, "model": None}, _DEFAULTS)
    assert (request.max_tokens, request.model) == (50, "mock:echo")


def test_a_request_is_filled_in() -> None:
    request = prepare(Request.ask("a", max_tokens=9), _DEFAULTS)
    assert (request.model, request.system, request.max_tokens) == ("mock:echo", "be brief", 9)


@pytest.mark.parametrize("prompt", [Request.ask("x"), {"prompt": "x"}, {"prompt": "x", "max_tokens": None}, "x"])
def test_what_says_nothing_of_max_tokens_takes_the_runs(prompt: object) -> None:
    assert prepare(prompt, _DEFAULTS).max_tokens == 50


def test_a_request_that_says_the_usual_number_keeps_it() -> None:
    assert prepare(Request.ask("x", max_tokens=DEFAULT_MAX_TOKENS), _DEFAULTS).max_tokens == DEFAULT_MAX_TOKENS


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (5, "not int"),
        (None, "not NoneType"),
        (b"bytes", "not bytes"),
        ([], "at least one message"),
        ({}, "either 'prompt' or 'messages'"),
        ({"prompt": "a", "messages": []}, "either 'prompt' or 'messages'"),
        ({"prompt": 5}, "must be a string"),
        ({"promt": "a"}, "unknown key 'promt'"),
        ({"prompt": "a", "max_tokens": 0}, "at least 1"),
        ({"prompt": "a", "max_tokens": "7"}, "'max_tokens' must be a whole number"),
        ({"prompt": "a", "system": 7}, "'system' must be a string"),
        ({"prompt": "a", "sampling": "hot"}, "'sampling' must be a dict"),
        ({"prompt": "a", "label": 7}, "'label' must be a string"),
        ({"prompt": "a", "extra_body": {"n": 10**30}}, "can't serialize ints"),
        ({"messages": "hello"}, "must be a list of messages"),
        ([{"role": "user"}], "message 0 must be a dict"),
        ([{"role": "robot", "content": "x"}], "the role 'robot'"),
        ([{"role": "user", "content": 5}], "content must be"),
        ([{"role": "user", "content": [{"text": "no type"}]}], "blocks with a 'type'"),
        ("lone \ud800", "lone surrogate at character 5"),
        ({"prompt": "a", "label": "\udfff"}, "lone surrogate"),
        ({"prompt": "a", "sampling": {"x": object()}}, "object"),
    ],
)
def test_what_cannot_become_a_request_is_that_rows_problem(prompt: object, said: str) -> None:
    row = intake(prompt, _DEFAULTS, {"id": 3})
    assert row.request is None
    assert said in (row.problem or "")
    assert row.columns == {"id": 3}


def test_equal_bad_rows_are_equal_and_others_are_not() -> None:
    first, same, other = (intake(prompt, _DEFAULTS) for prompt in (5, 5, None))
    assert first.fingerprint == same.fingerprint != other.fingerprint


def test_the_input_is_read_one_by_one() -> None:
    read = []
    rows = intakes((read.append(n) or str(n) for n in range(3)), _DEFAULTS)
    assert read == []
    next(rows)
    assert read == [0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": 0},
        {"max_tokens": True},
        {"max_tokens": "5"},
        {"system": 5},
        {"sampling": []},
        {"extra_body": "x"},
    ],
)
def test_a_default_that_cannot_be_meant_is_an_error_before_anything_is_sent(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Defaults(model="mock:echo", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        " \n\u2003",
        {"prompt": "\t"},
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": " "}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": [{"type": "text", "text": " "}, {"type": "text"}]}],
        Request.ask(""),
    ],
)
def test_a_prompt_that_says_nothing_is_refused(prompt: object) -> None:
    with pytest.raises(ConfigError, match="the prompt is empty"):
        prepare(prompt, _DEFAULTS)


def test_an_image_without_words_is_no_empty_prompt() -> None:
    assert prepare([{"role": "user", "content": [{"type": "image", "source": {}}]}], _DEFAULTS)


class _Frame:
    """A table as polars, pyarrow or pandas has it, as far as anybody looks."""

    columns = ("prompt",)

    def __init__(self, **methods: object) -> None:
        self.__dict__ |= methods


@pytest.mark.parametrize(
    ("frame", "column", "rows"),
    [
        (_Frame(to_dicts=list), "df['prompt'].to_list()", "df.to_dicts()"),
        (_Frame(to_pylist=list), "df['prompt'].to_pylist()", "df.to_pylist()"),
        (_Frame(to_dict=dict), "df['prompt'].tolist()", "df.to_dict('records')"),
    ],
)
def test_a_table_is_refused_with_the_words_of_its_library(frame: _Frame, column: str, rows: str) -> None:
    with pytest.raises(ConfigError) as refused:
        refuse_one(frame)
    assert column in str(refused.value)
    assert rows in str(refused.value)
