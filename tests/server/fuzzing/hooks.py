"""What schemathesis must know beyond the OpenAPI document. Runs in its own environment, not in ours.

Four promises cannot be written as a schema: that a JSON schema inside a body is a usable one, that ids are not
repeated, that the last message says something, and that numbers inside of content blocks and sampling parameters fit
into 64 bits. Bodies that are meant to be good keep them.
"""

import json

import schemathesis

_USABLE = (
    {"type": "object"},
    {"type": "object", "properties": {"a": {"enum": [1, "x", None]}}, "required": ["a"]},
    True,
)


@schemathesis.hook
def map_body(context, body):
    """Bodies of the right shape, with what a schema cannot say."""
    if isinstance(body, dict):
        _mend(body)
        if isinstance(body.get("prompts"), list):
            seen = set()
            for item in body["prompts"]:
                if isinstance(item, dict):
                    _mend(item)
                    own = item.get("id")
                    if isinstance(own, str):
                        if own in seen:
                            item["id"] = None
                        seen.add(own)
    return body


def _mend(item):
    wanted = item.get("response_format")
    if isinstance(wanted, dict) and isinstance(wanted.get("json_schema"), dict):
        held = wanted["json_schema"].get("schema")
        if isinstance(held, dict | bool):
            wanted["json_schema"]["schema"] = _USABLE[len(json.dumps(held)) % len(_USABLE)]
    if isinstance(item.get("prompt"), str) and not item["prompt"].strip():
        item["prompt"] = "x"
    turns = item.get("messages")
    if isinstance(turns, list) and turns and isinstance(turns[-1], dict) and "content" in turns[-1]:
        held = turns[-1]["content"]
        if isinstance(held, str):
            turns[-1]["content"] = held if held.strip() else "x"
        elif isinstance(held, list):
            turns[-1]["content"] = [*held, {"type": "text", "text": "x"}]
    if isinstance(item.get("sampling"), dict):
        item["sampling"] = {} if item.get("temperature") is not None else _small(item["sampling"])
    if isinstance(item.get("messages"), list):
        for turn in item["messages"]:
            if isinstance(turn, dict) and isinstance(turn.get("content"), list):
                turn["content"] = [_small(block) for block in turn["content"]]


def _small(value):
    if isinstance(value, dict):
        return {key: _small(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_small(held) for held in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        return 1
    return value


@schemathesis.deserializer("application/x-ndjson")
def lines(context, response):
    """Every line must be JSON and the last one the summary; the first one is held against the schema."""
    told = [json.loads(line) for line in response.content.splitlines()]
    assert "summary" in told[-1]
    return told[0]
