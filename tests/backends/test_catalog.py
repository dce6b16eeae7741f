import pytest

from batchwork.backends._catalog import catalog, fact, is_known, near, owner_of
from batchwork.core.words import or_list


def test_every_bare_id_of_the_table_belongs_to_the_backend_that_lists_it() -> None:
    for owner in ("anthropic", "openai"):
        assert {owner_of(model) for model in catalog().ids[owner]} == {owner}
        assert all(is_known(model) for model in catalog().ids[owner])


@pytest.mark.parametrize("model", ["claude-haiku-5-5-20261001", "gpt-6-luna-2026-10-01"])
def test_a_dated_snapshot_of_a_known_family_is_known(model: str) -> None:
    assert is_known(model)


def test_a_model_that_is_not_listed_is_not_known() -> None:
    assert not is_known("claude-poem-1")
    assert owner_of("llama-3") is None


@pytest.mark.parametrize(
    ("owner", "model", "name", "value"),
    [
        ("anthropic", "claude-opus-5", "thinking_off", {"thinking": {"type": "disabled"}}),
        ("anthropic", "claude-fable-5", "thinking_off", None),
        ("anthropic", "gpt-5", "thinking_off", None),
        ("openai", "gpt-5-chat-latest", "thinking_off", {}),
        ("openai", "gpt-5.4-mini", "thinking_off", {"reasoning_effort": "none"}),
        ("openai", "gpt-5-nano", "thinking_off", {"reasoning_effort": "minimal"}),
        ("openai", "gpt-5-nano", "takes_sampling", False),
        ("openai", "gpt-4o", "takes_sampling", None),
        ("openai", "gpt-4o-mini", "image_tokens", 50_000),
        ("openai", "o3", "image_tokens", 6_000),
        ("openai", "o3-pro", "responses_only", True),
        ("openai", "gpt-6-luna", "responses_only", None),
    ],
)
def test_the_first_rule_that_states_a_fact_counts(owner: str, model: str, name: str, value: object) -> None:
    assert fact(owner, model, name) == value


def test_what_comes_near_begins_so_or_is_of_the_same_family() -> None:
    assert near("sonnet", catalog().ids["anthropic"])[0] == "claude-sonnet-5-5"
    assert or_list(["a", "b", "c"]) == "a, b or c"
    assert or_list(["a"]) == "a"
