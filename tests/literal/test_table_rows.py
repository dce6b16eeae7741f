"""Rows of a table, in whatever shape it stands."""

from batchwork.literal import fill

ITEM = {
    "type": "object",
    "properties": {
        "description": {"type": "string"},
        "quantity": {"type": "integer"},
        "unit_price": {"type": "number"},
        "total": {"type": "number"},
    },
    "required": ["description", "quantity", "unit_price", "total"],
}


def test_a_csv_gives_rows_of_any_fields():
    schema = {
        "type": "object",
        "properties": {
            "people": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}},
                },
            }
        },
    }
    value, _ = fill(schema, "name,age,city\nAda,36,London\nGrace,85,Arlington\n")
    assert value["people"] == [
        {"name": "Ada", "age": 36, "city": "London"},
        {"name": "Grace", "age": 85, "city": "Arlington"},
    ]


def test_a_description_over_two_lines_is_one():
    text = (
        "Description Qty Unit price Total\nBlue widget,\n  made of steel 2 $10.00 $20.00\n"
        "Bolt 3 $1.00 $3.00\nTotal $23.00"
    )
    value, _ = fill({"type": "object", "properties": {"items": {"type": "array", "items": ITEM}}}, text)
    assert [row["total"] for row in value["items"]][-1] == 3.0
    assert value["items"][0]["description"] == "Blue widget, made of steel"
