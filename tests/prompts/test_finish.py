"""The third phase: outcomes become answers."""

from dataclasses import replace
from typing import Any

import pytest

from batchwork.core.errors import ConfigError
from batchwork.core.outcome import Pending
from batchwork.prompts import PromptDefaults, finish_answer, prepare_all
from tests.prompts.virtual import asked, backend_of, virtually


def test_half_a_character_in_an_answer_is_replaced() -> None:
    result = virtually(asked(["a"], backend_of(script=lambda *_: "x\ud800y")))
    assert result.answers[0].response == "x?y"


def test_an_answer_too_deep_to_be_written_is_an_error() -> None:
    deep = "[" * 400 + "]" * 400
    result = virtually(asked([{"prompt": "x", "extract_field_path": "[0]"}], backend_of(script=lambda *_: deep)))
    assert result.answers[0].error_code == "not_json"
    assert result.answers[0].raw_text == deep


def test_cost_is_null_where_the_price_is_not_known_and_a_number_where_it_is() -> None:
    backend = backend_of()
    backend.traits = replace(backend.traits, free=False)
    unknown = virtually(asked(["a"], backend))
    assert unknown.answers[0].cost_usd is None
    assert unknown.summary.cost_usd is None
    known = virtually(asked(["abcd"], backend, price=(1, 2)))
    assert known.answers[0].cost_usd == known.summary.cost_usd == 6e-06


def test_an_answer_that_max_tokens_cut_off_says_so_whether_it_can_be_used_or_not() -> None:
    schema = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    prompts = ["a long story", {"prompt": '{"a": "long story"}', "response_format": schema}, "ab"]
    result = virtually(
        asked([{"max_tokens": 1} | ({"prompt": p} if isinstance(p, str) else p) for p in prompts], backend_of())
    )
    assert [(answer.status, answer.truncated) for answer in result.answers] == [
        ("success", True),
        ("error", True),
        ("success", False),
    ]
    assert result.answers[0].response == "a l"
    assert result.answers[1].error_code == "truncated"
    assert result.summary.truncated == 2


@pytest.mark.parametrize(("wrong", "word"), [(Pending(index=1), "of prompt 1"), ("an answer", "a str")])
def test_a_wrong_outcome_is_refused(wrong: Any, word: str) -> None:
    prompt, _ = prepare_all(["a", "b"], PromptDefaults(model="mock:echo"))
    with pytest.raises(ConfigError, match=f"the outcome is {word}, not that of prompt 0"):
        finish_answer(prompt, wrong)
