"""Reader: answer only from the text that was given, through `batchwork.literal`."""

import msgspec

from batchwork import literal
from batchwork.simulator.prompt import Block, Citation, Document, Prompt, Said

_GAP = "\n\n"


class ReaderPersona:
    """Finds what stands in the prompt and its documents; says so when it does not."""

    def answer(self, prompt: Prompt) -> Said:
        """Read the question in the last turn, look in everything that was given."""
        question, text = _asked(prompt)
        tool = prompt.chosen_tool()
        if tool is not None:
            value, _ = literal.fill(tool.schema, text, question=question)
            return Said(blocks=(Block(kind="tool_use", name=tool.name, input=value),), stop="tool_use")
        if prompt.schema is not None:
            value, _ = literal.fill(prompt.schema, text, question=question)
            return Said(blocks=(Block(text=msgspec.json.encode(value).decode()),))
        if prompt.citations:
            return Said(blocks=_cited(question, prompt.documents, text))
        return Said(blocks=(Block(text=literal.read(question, text).text),))

    def step(self, prompt: Prompt, custom_id: str | None, seen_before: int) -> None:  # noqa: ARG002
        """Nothing in particular."""
        return


def _asked(prompt: Prompt) -> tuple[str, str]:
    """The question, and everything that was given: the documents first, then what the user said.

    The question is in the last turn that asks one; a later turn that only finds fault with an answer is not it.
    """
    said = [turn.text for turn in prompt.turns if turn.role == "user"] or [prompt.system]
    asking = next((number for number in range(len(said) - 1, 0, -1) if "?" in said[number]), 0)
    question, told = literal.split_prompt(said[asking])
    parts = [document.text for document in prompt.documents]
    parts += [told if number == asking else text for number, text in enumerate(said) if number <= asking]
    return question, _GAP.join(part for part in parts if part.strip()) or prompt.system


def _cited(question: str, documents: tuple[Document, ...], text: str) -> tuple[Block, ...]:
    """One block per thing asked, each with the place where it stands."""
    blocks: list[Block] = []
    for part in literal.split_question(question):
        for index, document in enumerate(documents):
            found = literal.read(part, document.text)
            if found.spans:
                places = tuple(Citation(index, *literal.sentence_around(document.text, *span)) for span in found.spans)
                blocks.append(Block(text=("" if not blocks else "\n") + found.text, citations=places))
                break
        else:
            blocks.append(Block(text=("" if not blocks else "\n") + literal.read(part, text).text))
    return tuple(blocks)
