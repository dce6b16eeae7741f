"""Answers in a wrapping, and schemas of older drafts."""

from batchwork.schema import Accepted, Rejected, SchemaChecker


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
