"""The providers' data file is complete: every status fault has its words at both."""

import pytest

from batchwork.simulator.errors import Refused
from batchwork.simulator.faults import HTTP_KINDS
from batchwork.simulator.providers import ANTHROPIC, OPENAI

BOTH = pytest.mark.parametrize("provider", [ANTHROPIC, OPENAI], ids=["anthropic", "openai"])


@BOTH
def test_every_status_fault_but_the_edge_proxys_has_its_words(provider):
    answers = {kind: provider.fault(kind) for kind in HTTP_KINDS - {"413"}}
    for kind, answer in answers.items():
        assert answer.message
        assert answer.type
        assert kind in ("quota", "529") or answer.status == int(kind)


@BOTH
def test_only_a_429_names_a_wait_and_a_404_the_model(provider):
    waits = {kind: provider.fault(kind, "some-model", 2.5).retry_after_s for kind in HTTP_KINDS - {"413"}}
    assert {kind for kind, wait in waits.items() if wait is not None} == {"429"}
    assert "some-model" in provider.fault("404", "some-model", 1.0).message


@BOTH
def test_a_model_is_listed_once_and_under_its_whole_name(provider):
    assert len(set(provider.models)) == len(provider.models)
    assert {name.partition("-")[0] for name in provider.models} in ({"claude"}, {"gpt"})
    assert all(name.count("-") >= 1 and not name.endswith("-") for name in provider.models)


def test_an_error_without_a_type_of_its_own_gets_that_of_its_status():
    assert ANTHROPIC.error_type(Refused(404, "x")) == "not_found_error"
    assert ANTHROPIC.error_type(Refused(404, "x", type="odd")) == "odd"
    assert OPENAI.error_type(Refused(404, "x")) == "invalid_request_error"
    assert OPENAI.error_type(Refused(503, "x")) == "server_error"
