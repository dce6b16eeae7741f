"""Count tokens: a simple deterministic rule, a quarter of the characters, rounded up.

It never counts more than one token per UTF-8 byte plus a fixed overhead (`OVERHEAD` per
request and `PER_TURN` per message), so that a budget reserved by bytes is a true bound.
"""

OVERHEAD = 4
PER_TURN = 3
_BASE64_CHARACTERS_PER_IMAGE_TOKEN = 400


def count(text: str) -> int:
    """Tokens of one piece of text."""
    return (len(text) + 3) // 4


def count_image(base64_length: int) -> int:
    """Tokens of one picture, from the size of its data."""
    return base64_length // _BASE64_CHARACTERS_PER_IMAGE_TOKEN + 1


def cut(text: str, tokens: int) -> str:
    """The first `tokens` tokens of a text."""
    return text[: 4 * tokens]
