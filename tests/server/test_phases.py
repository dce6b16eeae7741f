"""The first and the third phase inside of a server."""

from tests.server.house import RIVER, House, scripted, serving


def test_a_schema_gives_validated_json_and_a_path_takes_a_field_out_of_it() -> None:
    with serving(scripted(lambda *_: '{"river": "Danube", "km": 2850}')) as house:
        assert house.prompt(prompt="?", response_format=RIVER).json()["response"] == {"river": "Danube", "km": 2850}
        answer = house.prompt(prompt="?", response_format=RIVER, extract_field_path="river").json()
    assert answer["response"] == "Danube"


def test_a_schema_that_cannot_be_used_is_a_422_alone_and_an_item_among_many(echo: House) -> None:
    broken = {"type": "json_schema", "json_schema": {"schema": {"properties": {"a": {"type": "strong"}}}}}
    alone = echo.prompt(prompt="?", response_format=broken)
    assert (alone.status, alone.code) == (422, "invalid_schema")
    assert alone.json()["where"] == "/response_format/json_schema/schema/properties/a/type"
    among = echo.prompts(["fine", {"prompt": "?", "response_format": broken}]).json()["results"]
    assert [a["error_code"] for a in among] == [None, "invalid_schema"]
    assert "/properties/a/type" in among[1]["error"]


def test_a_path_that_is_not_in_the_answer_says_where_it_stopped_and_keeps_the_text(echo: House) -> None:
    answer = echo.prompt(prompt='{"items": [{"total": 1}, {}]}', extract_field_path="items[*].total").json()
    assert answer["error_code"] == "path_not_found"
    assert "items[1]" in answer["error"]
    assert answer["raw_text"] == '{"items": [{"total": 1}, {}]}'
    assert echo.prompt(prompt="no json", extract_field_path="a").json()["error_code"] == "not_json"
