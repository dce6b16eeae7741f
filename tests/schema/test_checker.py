"""Answers in a wrapping, answers that were cut off, and schemas of older drafts."""

from typing import Any

import pytest

from batchwork.core.failure import FailureKind
from batchwork.core.ports import AnswerVerdict
from batchwork.core.reply import Reply, ToolCall
from batchwork.core.request import Request, Schema
from batchwork.schema import Accepted, AnswerChecker, Rejected, SchemaChecker


def test_an_answer_in_a_wrapping_is_unwrapped() -> None:
    numbers = SchemaChecker({"type": "array", "items": {"type": "integer"}})
    assert numbers.check('{"value": [1, 2]}') == Accepted([1, 2])
    assert numbers.check('{"value": [1, "b"]}') == Rejected(('[1]: "b" is not of type "integer"',))
    named = SchemaChecker({"type": "object", "properties": {"value": {"type": "string"}}})
    assert named.check('{"value": "x"}') == Accepted({"value": "x"})
    assert named.check('{"value": 5}') == Rejected(('value: 5 is not of type "string"',))


def test_older_drafts_are_understood() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}
    assert isinstance(SchemaChecker(schema).check("3"), Rejected)
    assert SchemaChecker(schema).check("4") == Accepted(4)


def _judged(text: str, schema: dict[str, Any]) -> AnswerVerdict:
    request = Request.ask("?", schema=Schema.of(schema), max_tokens=9)
    return AnswerChecker().check(request, Reply(text=text, truncated=True))


def test_a_whole_answer_is_accepted_although_the_provider_says_that_it_was_cut_off() -> None:
    assert _judged('{"a": 1}', {"type": "object"}) == AnswerVerdict(value={"a": 1})


@pytest.mark.parametrize("text", ['{"a": ', "{}", ""])
def test_an_answer_that_was_cut_off_is_not_asked_for_again(text: str) -> None:
    verdict = _judged(text, {"type": "object", "required": ["a"]})
    assert verdict.failure is not None
    assert (verdict.failure.kind, verdict.reask) == (FailureKind.TRUNCATED, ())
    assert "9 tokens" in verdict.failure.message


def test_the_call_of_a_tool_is_an_answer_although_it_is_not_the_json_that_the_schema_asks_for() -> None:
    request = Request.ask("x", schema={"type": "object", "required": ["a"]})
    called = Reply(text="I look it up.", tool_calls=(ToolCall(name="find"),))
    verdict = AnswerChecker().check(request, called)
    assert (verdict.failure, verdict.value) == (None, None)
    whole = Reply(text='{"a": 1}', tool_calls=called.tool_calls)
    assert AnswerChecker().check(request, whole).value == {"a": 1}
    cut = Reply(text="", tool_calls=called.tool_calls, truncated=True)
    assert AnswerChecker().check(request, cut).failure is not None
