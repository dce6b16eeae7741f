"""Which sampling parameters there are, and which values they can have; the same at every door."""

from typing import Any

import pytest

from batchwork.core.errors import ConfigError
from batchwork.core.prompt import Defaults, intake
from batchwork.core.sampling import sampling_problem
from tests.prompts.virtual import asked, backend_of, virtually


@pytest.mark.parametrize("sampling", [{}, {"temperature": 0}, {"temperature": 2.0, "top_p": 1}, {"temperature": None}])
def test_a_value_that_some_model_takes_is_no_problem(sampling: dict[str, Any]) -> None:
    assert sampling_problem(sampling) is None


@pytest.mark.parametrize("value", [5, -0.1, 2.01, True, "1", float("nan")])
def test_a_temperature_that_no_model_takes_is_refused_at_every_door(value: Any) -> None:
    sampling = {"temperature": value}
    with pytest.raises(ConfigError, match="temperature must be"):
        Defaults(model="mock:echo", sampling=sampling)
    assert "temperature must be" in (intake({"prompt": "x", "sampling": sampling}, Defaults(model="m")).problem or "")
    answer = virtually(asked([{"prompt": "x", "sampling": sampling}], backend_of())).answers[0]
    assert answer.error_code == "invalid_request"


def test_a_mock_takes_no_parameter_that_no_model_takes() -> None:
    wrong, right = virtually(
        asked([{"prompt": "x", "sampling": {"topp": 0.9}}, {"prompt": "x", "sampling": {"top_p": 0.9}}], backend_of())
    ).answers
    assert (wrong.error_code, right.status) == ("bad_input", "success")
