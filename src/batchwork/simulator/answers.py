"""Turn a persona's words into the answer that is sent: content faults, stop sequences, the token limit, usage."""

from typing import Any

import msgspec

from batchwork.simulator import tokens
from batchwork.simulator.bill import Usage
from batchwork.simulator.faults import CONTENT_KINDS
from batchwork.simulator.personas import Persona, Step
from batchwork.simulator.prompt import Answer, Block, Prompt
from batchwork.simulator.schema_nodes import resolved

_THOUGHT = "Let me look at what was asked and at the text I was given."


def answer_to(persona: Persona, prompt: Prompt, kind: str | None, step: Step | None) -> Answer:
    """The answer to a prompt under a content fault, cut at what the caller allowed."""
    if step is not None and step.json is not None:
        answer = Answer(blocks=(Block(text=msgspec.json.encode(step.json).decode()),))
    elif step is not None and step.text is not None:
        answer = Answer(blocks=(Block(text=step.text),))
    else:
        answer = persona.answer(prompt)
    if kind in CONTENT_KINDS:
        answer = _spoiled(answer, prompt, kind)
    return _cut(answer, prompt)


def usage_for(prompt: Prompt, answer: Answer) -> Usage:
    """Uncached usage of an answer; even an empty one costs a token of output."""
    produced = max(1, sum(map(_size, answer.blocks))) * prompt.choices
    return Usage(prompt.input_tokens, 0 if prompt.max_tokens == 0 else produced)


def _size(block: Block) -> int:
    if block.kind == "tool_use":
        return tokens.count(msgspec.json.encode(block.input).decode()) + tokens.count(block.name)
    return tokens.count(block.text)


def _spoiled(answer: Answer, prompt: Prompt, kind: str) -> Answer:
    text = answer.text
    half = (Block(text=text[: max(1, len(text) // 2)]),)
    match kind:
        case "refusal":
            return Answer(blocks=(), stop="refusal", category="general_harms")
        case "max_tokens":
            return Answer(blocks=half, stop="max_tokens")
        case "context_window":
            return Answer(blocks=half, stop="model_context_window_exceeded")
        case "pause_turn":
            return Answer(blocks=answer.blocks, stop="pause_turn")
        case "thinking":
            return msgspec.structs.replace(answer, blocks=(Block(kind="thinking", text=_THOUGHT), *answer.blocks))
        case "empty":
            return Answer(blocks=())
        case "wrong_case":
            return Answer(blocks=(Block(text=_other_case(text, prompt.schema)),))
        case _:
            return Answer(blocks=(Block(text=f'Sure! Here it is: {{"answer": {text[: len(text) // 2]}'),))


def _other_case(text: str, schema: dict[str, Any] | None) -> str:
    if schema is None:
        return text.swapcase()
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text.swapcase()
    return msgspec.json.encode(_recased(value, schema, schema)).decode()


def _recased(value: Any, schema: Any, root: dict[str, Any]) -> Any:
    """Change the case of what stands at an enum, and of nothing else."""
    if not isinstance(schema, dict):
        return value
    if isinstance(ref := schema.get("$ref"), str):
        return _recased(value, resolved(root, ref), root)
    if isinstance(value, str):
        choices = [schema, *schema.get("anyOf", ())]
        listed = any(value in choice.get("enum", ()) for choice in choices if isinstance(choice, dict))
        return value.swapcase() if listed else value
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return {name: _recased(child, properties.get(name), root) for name, child in value.items()}
    if isinstance(value, list):
        return [_recased(child, schema.get("items"), root) for child in value]
    return value


def _cut(answer: Answer, prompt: Prompt) -> Answer:
    if prompt.max_tokens is None and not prompt.stop_sequences:
        return answer
    for stop in prompt.stop_sequences:
        text = answer.text
        if stop and (at := text.find(stop)) >= 0:
            answer = Answer(blocks=(Block(text=text[:at]),), stop="stop_sequence", stop_sequence=stop)
            break
    limit = prompt.max_tokens
    if limit is None or sum(_size(block) for block in answer.blocks) <= limit:
        return answer
    kept: list[Block] = []
    for block in answer.blocks:
        size = _size(block)
        if size > limit:
            if block.kind != "tool_use" and limit:
                kept.append(msgspec.structs.replace(block, text=tokens.cut(block.text, limit)))
            break
        kept.append(block)
        limit -= size
    return Answer(blocks=tuple(kept), stop="max_tokens")
