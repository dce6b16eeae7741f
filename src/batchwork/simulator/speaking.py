"""Turn a persona's words into the answer that is sent: content faults, stop sequences, the token limit, usage."""

from typing import Any

import msgspec

from batchwork.simulator import tokens
from batchwork.simulator.bill import Usage
from batchwork.simulator.fault_kinds import CONTENT_KINDS
from batchwork.simulator.personas import Persona, Step
from batchwork.simulator.prompt import Block, Prompt, Said

_THOUGHT = "Let me look at what was asked and at the text I was given."


def speak(persona: Persona, prompt: Prompt, kind: str | None, step: Step | None) -> Said:
    """The answer to a prompt under a content fault, cut at what the caller allowed."""
    if step is not None and step.json is not None:
        said = Said(blocks=(Block(text=msgspec.json.encode(step.json).decode()),))
    elif step is not None and step.text is not None:
        said = Said(blocks=(Block(text=step.text),))
    else:
        said = persona.answer(prompt)
    if kind in CONTENT_KINDS:
        said = _spoiled(said, prompt, kind)
    return _cut(said, prompt)


def output_tokens(said: Said) -> int:
    """What an answer costs in output tokens; even an empty one costs one."""
    return max(1, sum(_size(block) for block in said.blocks))


def usage_for(prompt: Prompt, said: Said) -> Usage:
    """Uncached usage of an answer."""
    produced = 0 if prompt.max_tokens == 0 else output_tokens(said) * prompt.choices
    return Usage(prompt.input_tokens, produced)


def _size(block: Block) -> int:
    if block.kind == "tool_use":
        return tokens.count(msgspec.json.encode(block.input).decode()) + tokens.count(block.name)
    return tokens.count(block.text)


def _text(said: Said) -> str:
    return "".join(block.text for block in said.blocks if block.kind == "text")


def _spoiled(said: Said, prompt: Prompt, kind: str) -> Said:
    text = _text(said)
    half = (Block(text=text[: max(1, len(text) // 2)]),)
    match kind:
        case "refusal":
            return Said(blocks=(), stop="refusal", category="general_harms")
        case "max_tokens":
            return Said(blocks=half, stop="max_tokens")
        case "context_window":
            return Said(blocks=half, stop="model_context_window_exceeded")
        case "pause_turn":
            return Said(blocks=said.blocks, stop="pause_turn")
        case "thinking":
            return msgspec.structs.replace(said, blocks=(Block(kind="thinking", text=_THOUGHT), *said.blocks))
        case "empty":
            return Said(blocks=())
        case "wrong_case":
            return Said(blocks=(Block(text=_other_case(text, prompt.schema)),))
        case _:
            return Said(blocks=(Block(text=f'Sure! Here it is: {{"answer": {text[: len(text) // 2]}'),))


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
        node: Any = root
        for part in filter(None, ref.lstrip("#").split("/")):
            node = node[part]
        return _recased(value, node, root)
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


def _cut(said: Said, prompt: Prompt) -> Said:
    if prompt.max_tokens is None and not prompt.stop_sequences:
        return said
    for stop in prompt.stop_sequences:
        text = _text(said)
        if stop and (at := text.find(stop)) >= 0:
            said = Said(blocks=(Block(text=text[:at]),), stop="stop_sequence", stop_sequence=stop)
            break
    limit = prompt.max_tokens
    if limit is None or sum(_size(block) for block in said.blocks) <= limit:
        return said
    kept: list[Block] = []
    for block in said.blocks:
        size = _size(block)
        if size > limit:
            if block.kind != "tool_use" and limit:
                kept.append(msgspec.structs.replace(block, text=tokens.cut(block.text, limit)))
            break
        kept.append(block)
        limit -= size
    return Said(blocks=tuple(kept), stop="max_tokens")
