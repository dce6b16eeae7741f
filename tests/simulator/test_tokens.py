"""Tokens are never more than bytes allow, so that a budget reserved by bytes holds."""

from hypothesis import given
from hypothesis import strategies as st

from batchwork.simulator.anthropic.parse import parse_messages
from batchwork.simulator.openai.parse import parse_chat
from batchwork.simulator.tokens import count, cut


@given(st.text())
def test_a_text_has_at_most_one_token_per_byte(text):
    assert count(text) <= len(text.encode("utf-8", "surrogatepass"))


@given(st.text(), st.integers(0, 50))
def test_a_cut_text_has_at_most_that_many_tokens(text, tokens):
    assert count(cut(text, tokens)) <= tokens


@given(st.lists(st.text(min_size=1), min_size=1, max_size=5), st.text())
def test_a_prompt_stays_below_bytes_plus_16_plus_8_per_message(texts, system):
    turns = [{"role": "user", "content": text} for text in texts]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in [*texts, system])
    bound = size + 16 + 8 * len(texts)
    body = {"model": "m", "max_tokens": 5, "messages": turns, "system": system}
    assert parse_messages(body, "2026-10-21").input_tokens <= bound
    messages = [{"role": "system", "content": system}, *turns]
    assert parse_chat({"model": "m", "messages": messages}).input_tokens <= bound
