"""Answers against their schemas."""

import json

import pytest

from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from tests.server.house import RIVER, scripted, serving, text_of


def test_an_answer_against_the_schema_is_asked_again_once_with_the_errors() -> None:
    asked: list[str] = []

    def script(request: Request, call: int) -> str:
        asked.append(text_of(request))
        return '{"river": "Danube"}' if call == 1 else '{"river": "Danube", "km": 2850}'

    with serving(scripted(script)) as house:
        answer = house.prompt(prompt="?", response_format=RIVER).json()
    assert answer["response"]["km"] == 2850
    assert "km" in asked[1]


def test_an_answer_that_stays_wrong_is_a_schema_violation_with_its_text_and_its_bill() -> None:
    backend = scripted(lambda *_: '{"river": "Danube", "km": 0}')
    with serving(backend, price="1,1") as house:
        answered = house.prompt(prompt="?", response_format=RIVER)
    answer = answered.json()
    assert answered.status == 200
    assert (answer["error_code"], answer["raw_text"]) == ("schema_violation", '{"river": "Danube", "km": 0}')
    assert backend.calls == 2
    assert answer["cost_usd"] > 0


@pytest.mark.parametrize("size", [1, 3_000])
@pytest.mark.parametrize("whole", [True, False])
def test_an_answer_that_was_cut_off_counts_when_its_json_is_whole(whole: bool, size: int) -> None:
    text = json.dumps({"river": "Danube", "km": 2850, "towns": [str(i) for i in range(size)]})
    backend = scripted(lambda *_: Reply(text=text if whole else text[:-1], truncated=True, usage=Usage(input_tokens=9)))
    with serving(backend) as house:
        answer = house.prompt(prompt="?", response_format=RIVER).json()
    assert backend.calls == 1
    assert answer["error_code"] == (None if whole else "truncated")
    assert not whole or answer["response"]["km"] == 2850
