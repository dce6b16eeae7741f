"""OpenAI's embeddings: a body with one text or many, and the vectors that a text always has.

A text that says `REFUSED` is refused, as a content filter would, and with it the whole call it is in.
"""

import struct
from base64 import b64encode
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Literal

from msgspec import Struct

from batchwork.simulator import tokens
from batchwork.simulator.bill import Usage
from batchwork.simulator.errors import Refused
from batchwork.simulator.openai.parse import bad, model_in
from batchwork.simulator.prompt import Answer, Prompt, Turn, digest_of

REFUSED = "[refuse this text]"
MOST_TEXTS = 2048
_MOST_TOKENS = 300_000
_LONGEST = 8192
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}
_FIELDS = frozenset({"model", "input", "encoding_format", "dimensions", "user"})
_ELSEWHERE = frozenset({"input_type", "truncation", "output_dimension", "output_dtype", "output_encoding"})


class VectorForm(Struct, frozen=True, gc=False):
    """How a caller wants the vectors: their length, and how they are written."""

    dimensions: int
    encoding: Literal["float", "base64"] = "float"


def parse_embeddings(body: Any, default_tier: str = "default", *, elsewhere: bool = False) -> Prompt:
    """The texts in an embeddings body; one that is too long, or empty, is refused with all the others.

    `elsewhere` takes the fields of other services as well.
    """
    del default_tier
    model = model_in(body)
    for name in body:
        if name not in _FIELDS and not (elsewhere and name in _ELSEWHERE):
            raise bad(f"Unrecognized request argument supplied: {name}", name, "unknown_parameter")
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise bad("Invalid 'input': the simulator takes a string or an array of strings.", "input")
    if len(texts) > MOST_TEXTS:
        raise bad(f"Invalid 'input': at most {MOST_TEXTS} texts, got {len(texts)}.", "input", "array_above_max_length")
    if not all(texts):
        raise bad("Invalid 'input': input cannot be an empty string.", "input")
    if any(REFUSED in text for text in texts):
        raise bad("Invalid 'input': a text was refused by the content filter (simulated).", "input", "content_filter")
    counts = [tokens.count(text) for text in texts]
    if max(counts) > _LONGEST:
        message = f"This model's maximum context length is {_LONGEST} tokens, however you requested {max(counts)}."
        raise Refused(400, message, param="input", code="context_length_exceeded")
    if sum(counts) > _MOST_TOKENS:
        message = f"Requested {sum(counts)} tokens, max {_MOST_TOKENS} tokens per request"
        raise Refused(400, message, param="input", code="max_tokens_per_request")
    dimensions = body.get("dimensions") or body.get("output_dimension") or _DIMENSIONS.get(model, 1024)
    if not isinstance(dimensions, int) or dimensions < 1:
        raise bad("Invalid 'dimensions': expected a whole number of at least 1.", "dimensions")
    form = VectorForm(dimensions, "base64" if body.get("encoding_format") == "base64" else "float")
    return prompt_of(model, texts, form)


def prompt_of(model: str, texts: Sequence[str], form: VectorForm) -> Prompt:
    """The prompt that asks for the vectors of these texts."""
    turns, spent = tuple(Turn("user", text) for text in texts), sum(map(tokens.count, texts))
    name = digest_of(model, "", turns, ())
    return Prompt(model=model, system="", turns=turns, digest=name, input_tokens=spent, max_tokens=0, vectors=form)


def embeddings_of(prompt: Prompt, answer: Answer, usage: Usage, answer_id: str, created: int) -> dict[str, Any]:
    """The whole list of embeddings."""
    del answer, answer_id, created
    form = prompt.vectors
    assert form is not None, "it was read from an embeddings body"
    vectors = (vector_of(turn.text, form.dimensions) for turn in prompt.turns)
    if form.encoding == "base64":
        written: list[Any] = [b64encode(vector).decode() for vector in vectors]
    else:
        written = [struct.unpack(f"<{form.dimensions}f", vector) for vector in vectors]
    return {
        "object": "list",
        "model": f"simulated-{prompt.model}",
        "data": [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(written)],
        "usage": {"prompt_tokens": usage.total_input, "total_tokens": usage.total_input},
    }


def vector_of(text: str, dimensions: int) -> bytes:
    """The vector of a text as float32: nearly all zeros, of length about 1, and its own."""
    first, second, third = struct.unpack(
        "<III", blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
    )
    vector = bytearray(4 * dimensions)
    struct.pack_into("<f", vector, 4 * (second % dimensions), 1.0 if third & 1 else -1.0)
    struct.pack_into("<f", vector, 4 * (third % dimensions), 0.5)
    struct.pack_into("<f", vector, 0, (first >> 8) / 2**24)
    return bytes(vector)
