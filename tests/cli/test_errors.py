"""Errors in the words of the command line."""

import pytest

from batchwork.cli.errors import in_options

OPTIONS = ("base_url", "max_tokens", "retries", "head_timeout", "max_cost_per_day", "prompt")


@pytest.mark.parametrize(
    ("raised", "printed"),
    [
        ("max_tokens must be at least 1", "--max-tokens must be at least 1"),
        ("retries must be a whole number", "--retries must be a whole number"),
        ("use openai:m with the base_url https://h/v1", "use openai:m with the --base-url https://h/v1"),
        ("head_s must be more than 0 seconds", "--head-timeout must be more than 0 seconds"),
        ("so max_cost cannot be kept", "so --max-cost-per-day cannot be kept"),
        ("set the key (in Python also api_key=)", "set the key (in Python also api_key=)"),
        ("poll_interval is none of this command", "poll_interval is none of this command"),
        ("there is no column 'max_tokens' in /tmp/max_tokens", "there is no column 'max_tokens' in /tmp/max_tokens"),
        (
            "--max-tokens is there already, max_tokens= in Python",
            "--max-tokens is there already, max_tokens= in Python",
        ),
        ("a prompt is text", "a prompt is text"),
        ("prompt: got -1", "--prompt: got -1"),
        ("take --mode batch (mode='batch'), or another journal", "take --mode batch, or another journal"),
        ("--price IN,OUT (in Python price=(IN, OUT)), or a file", "--price IN,OUT, or a file"),
        ("set KEY in .env, or pass api_key", "set KEY in .env"),
        ("a/max_tokens.jsonl: there is no such file", "a/max_tokens.jsonl: there is no such file"),
        ("the model said: retries", "the model said: retries"),
    ],
)
def test_options_have_the_names_of_the_command_line(raised: str, printed: str) -> None:
    assert in_options(raised, OPTIONS) == printed
