"""A model call and its answer in neither provider's words.

The wires translate a body into a `Prompt`; a persona answers it with an `Answer`; the wires translate back.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from batchwork.simulator import tokens
from batchwork.simulator.bill import Lane

LEAST_CACHED = 1024  # tokens of a prefix


class Document(Struct, frozen=True, kw_only=True, gc=False):
    """An attached document; `parts` are its pages or the caller's own chunks, empty for plain text."""

    text: str
    title: str | None = None
    source: Literal["text", "pdf", "content"] = "text"
    parts: tuple[str, ...] = ()


class Turn(Struct, frozen=True, gc=False):
    """One message, its text blocks joined by blank lines."""

    role: str
    text: str


class Tool(Struct, frozen=True, gc=False):
    """A tool the model may call."""

    name: str
    schema: dict[str, Any]


class Prompt(Struct, frozen=True, kw_only=True, gc=False):
    """One model call."""

    model: str
    system: str
    turns: tuple[Turn, ...]
    digest: str
    input_tokens: int
    max_tokens: int | None = None
    documents: tuple[Document, ...] = ()
    schema: dict[str, Any] | None = None
    citations: bool = False
    tools: tuple[Tool, ...] = ()
    forced_tool: str | None = None
    tool_answered: bool = False
    stop_sequences: tuple[str, ...] = ()
    stream: bool = False
    stream_usage: bool = True
    cached: "CacheMark | None" = None
    choices: int = 1
    lane: Lane = "standard"
    vectors: Any = None  # the form of the embeddings that are wanted; None: an answer is

    @property
    def last(self) -> str:
        """The text of the last user turn."""
        for turn in reversed(self.turns):
            if turn.role == "user":
                return turn.text
        return self.system

    def chosen_tool(self) -> Tool | None:
        """The tool that is forced; or the only one there is, unless it has just answered."""
        if not self.tools or self.tool_answered:
            return None
        if self.forced_tool is None:
            return self.tools[0] if len(self.tools) == 1 else None
        return next((tool for tool in self.tools if tool.name == self.forced_tool), self.tools[0])


class CacheMark(Struct, frozen=True, gc=False):
    """The prefix that is cached: its hash, its tokens and for how long."""

    digest: str
    tokens: int
    ttl: Literal["5m", "30m", "1h"] = "5m"
    writes: bool = True  # writing it is billed; without, what is written costs what other input costs


class Citation(Struct, frozen=True, gc=False):
    """Where a statement stands: `document.text[start:end]`."""

    document: int
    start: int
    end: int


class Block(Struct, frozen=True, kw_only=True, gc=False):
    """One piece of an answer."""

    kind: Literal["text", "thinking", "tool_use"] = "text"
    text: str = ""
    citations: tuple[Citation, ...] = ()
    name: str = ""
    input: Any = None


class Answer(Struct, frozen=True, kw_only=True, gc=False):
    """A whole answer; `stop` is Anthropic's word, OpenAI's wire translates it."""

    blocks: tuple[Block, ...]
    stop: str = "end_turn"
    stop_sequence: str | None = None
    category: str | None = None

    @property
    def text(self) -> str:
        """The text that is shown; thinking stays inside."""
        return "".join(block.text for block in self.blocks if block.kind == "text")

    @property
    def thinking_tokens(self) -> int:
        """The tokens of the reasoning."""
        return sum(tokens.count(block.text) for block in self.blocks if block.kind == "thinking")


class Contents(Struct, gc=False):
    """What the messages of one call add up to; the wires fill it while they read."""

    tokens: int = 0
    texts: list[str] = []
    documents: list[Document] = []
    tool_results: int = 0
    waits_for_model: bool = False  # the last message brings the result of a tool
    citable: int = 0
    cited: int = 0
    marks: int = 0  # cache breakpoints; the next three are about the last one
    marked: int = 0
    marked_tokens: int = 0
    ttl: Literal["5m", "1h"] = "5m"

    def add(self, text: str) -> None:
        """Count a piece of text."""
        self.tokens += tokens.count(text)
        self.texts.append(text)

    def add_document(self, document: Document, *, cited: bool = False) -> None:
        """Note a document; the caller counts its text."""
        self.documents.append(document)
        self.citable += 1
        self.cited += cited

    def mark(self) -> None:
        """Note a cache breakpoint behind everything read so far."""
        self.marks += 1
        self.marked, self.marked_tokens = len(self.texts), self.tokens

    def prompt(self, model: str, system: str, turns: tuple[Turn, ...], **options: Any) -> Prompt:
        """The whole prompt, counted and named; `options` are its other fields."""
        spent = self.tokens + tokens.OVERHEAD + tokens.PER_TURN * len(turns) + tokens.count(system)
        for described in filter(None, (options.get("schema"), options.get("tools"))):
            spent += tokens.count(str(described))
        documents = tuple(self.documents)
        known: dict[str, Any] = {"documents": documents, "input_tokens": spent, "tool_answered": self.waits_for_model}
        digest = digest_of(model, system, turns, documents)
        return Prompt(model=model, system=system, turns=turns, digest=digest, **known, **options)


def cache_mark(pieces: Iterable[str], spent: int, ttl: Literal["5m", "30m", "1h"]) -> CacheMark:
    """The prefix made of these pieces."""
    text = "\x00".join(pieces).encode("utf-8", "surrogatepass")
    return CacheMark(hashlib.blake2b(text, digest_size=12).hexdigest(), spent, ttl)


def digest_of(model: str, system: str, turns: tuple[Turn, ...], documents: tuple[Document, ...]) -> str:
    """The name of a prompt in the log: the same text asked of the same model has the same digest."""
    hasher = hashlib.blake2b(model.encode(), digest_size=12)
    hasher.update(b"\x00" + system.encode("utf-8", "surrogatepass"))
    for turn in turns:
        hasher.update(b"\x01" + turn.role.encode() + b"\x02" + turn.text.encode("utf-8", "surrogatepass"))
    for document in documents:
        hasher.update(b"\x03" + document.text.encode("utf-8", "surrogatepass"))
    return hasher.hexdigest()
