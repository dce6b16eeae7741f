"""What providers do to answers is undone."""

from batchwork.schema import Accepted, Rejected, SchemaChecker


def test_nulls_for_absent_properties_are_left_out_where_null_is_not_allowed(checker: SchemaChecker) -> None:
    answer = '{"kind": "Invoice", "note": null, "paid": null, "items": [{"price": 1, "unit": null}], "payer": null}'
    assert checker.check(answer) == Accepted({"kind": "Invoice", "paid": None, "items": [{"price": 1}]})


def test_a_required_null_is_not_left_out(checker: SchemaChecker) -> None:
    verdict = checker.check('{"kind": "Invoice", "items": [{"price": null}]}')
    assert verdict == Rejected(('items[0].price: null is not of type "number"',))


def test_the_case_of_allowed_values_is_put_right_also_inside_unions(checker: SchemaChecker) -> None:
    answer = '{"kind": "INVOICE", "items": [{"price": 1}], "payer": {"type": "person", "born": null}}'
    assert checker.check(answer) == Accepted({"kind": "Invoice", "items": [{"price": 1}], "payer": {"type": "Person"}})
