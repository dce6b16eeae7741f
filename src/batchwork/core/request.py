"""What is asked: a request, and the key under which its answer is remembered.

The nouns of a call are frozen and hold only data, so they cannot form cycles: `gc=False` spares the collector
from walking through millions of them, which is an eighth of the cost of an item.
"""

from hashlib import blake2b, sha256
from typing import Any, Self

import msgspec

from batchwork.core.errors import ConfigError

DEFAULT_MAX_TOKENS = 1024

# A change of this number makes every request a new one, so it changes only when the key's meaning does.
_KEY_FORMAT = 1
_FILE_FORMAT = 1  # the same for the fingerprint of a file
_canonical = msgspec.msgpack.Encoder(order="deterministic").encode


def digest(data: bytes) -> bytes:
    """The 16 bytes that stand for `data` everywhere in batchwork."""
    return blake2b(data, digest_size=16).digest()


class Message(msgspec.Struct, frozen=True, gc=False):
    """One turn: a role and its text, or a list of content blocks."""

    role: str
    content: str | list[dict[str, Any]]


class Schema(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A JSON schema that the answer must satisfy, with its digest so that a million requests share one."""

    body: Any
    digest: bytes
    name: str = "answer"

    @classmethod
    def of(cls, body: Any, *, name: str = "answer") -> Self:
        """A schema from its JSON body; a ConfigError when it is not JSON."""
        if not isinstance(body, dict | bool):
            raise ConfigError(f"a schema is a dict (or True or False), not {type(body).__name__}")
        try:
            return cls(body=body, digest=digest(_canonical(body)), name=name)
        except (TypeError, OverflowError, UnicodeEncodeError, RecursionError) as error:
            raise ConfigError(f"the schema is not JSON: {error}") from error


class Attachment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A document or image that goes with a request: as extracted text, or as the file itself."""

    media_type: str
    digest: bytes
    text: str | None = None
    data: bytes | None = None
    title: str | None = None
    citations: bool = False
    pages: tuple[int, ...] = ()  # where the pages of `text` start


class Request(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything that influences one answer, and a label that does not.

    `occurrence` counts the equal requests before this one in the same input, so that duplicates stay apart and a rerun
    finds its own. The journal counts it; it is set on what is read back, not by the caller.
    """

    messages: tuple[Message, ...]
    model: str = ""
    system: str | None = None
    max_tokens: int | None = None  # None: what the run says
    schema: Schema | None = None
    documents: tuple[Attachment, ...] = ()
    sampling: dict[str, Any] | None = None
    extra_body: dict[str, Any] | None = None
    occurrence: int = 0
    label: str | None = None

    def __post_init__(self) -> None:
        if not self.messages:
            raise ConfigError("a request needs at least one message")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ConfigError(f"max_tokens must be at least 1, got {self.max_tokens}")

    @classmethod
    def ask(cls, prompt: str, **fields: Any) -> Self:
        """A request of one user message; `schema` may be given as its JSON.

        Raises:
            ConfigError: the schema is not JSON.
        """
        schema = fields.get("schema")
        if isinstance(schema, dict | bool):
            fields["schema"] = Schema.of(schema)
        return cls(messages=(Message("user", prompt),), **fields)

    @property
    def output_bound(self) -> int:
        """The most output tokens it may have: the usual number where neither it nor its run says another."""
        return DEFAULT_MAX_TOKENS if self.max_tokens is None else self.max_tokens

    @property
    def fingerprint(self) -> bytes:
        """Hash of everything that influences the answer, the occurrence left out.

        Raises:
            UnicodeEncodeError: a text holds a lone surrogate, which no provider takes.
        """
        schema = self.schema and (self.schema.digest, self.schema.name)
        documents = self.documents and [
            (d.media_type, d.digest, d.text is None, d.title, d.citations) for d in self.documents
        ]
        fields = (self.system, self.messages, self.output_bound, schema, documents, self.sampling, self.extra_body)
        return digest(_canonical((_KEY_FORMAT, self.model, *fields)))

    def file_fingerprint(self, content: bytes, *, title: str | None, pdf: str, cited: bool) -> bytes:
        """The fingerprint of this question about a file, which need not be extracted for it."""
        schema = self.schema and (self.schema.digest, self.schema.name)
        prompt = self.messages[0].content
        question = (self.model, self.system, self.max_tokens, schema, self.sampling, self.extra_body, prompt)
        return digest(_canonical(("file", _FILE_FORMAT, question, pdf, cited, title, sha256(content).digest())))

    @property
    def characters(self) -> int:
        """How long its text is: the system prompt, the messages and the documents that are sent as text."""
        texts = [self.system or "", *(document.text or "" for document in self.documents)]
        for message in self.messages:
            blocks = [message.content] if isinstance(message.content, str) else message.content
            texts += [block if isinstance(block, str) else str(block.get("text") or "") for block in blocks]
        return sum(map(len, texts))

    @property
    def key(self) -> str:
        """Hash of everything that influences the answer, and the occurrence."""
        return key_of(self.fingerprint, self.occurrence)


def key_of(fingerprint: bytes, occurrence: int) -> str:
    """The key of the `occurrence`-th equal request, counted from 0."""
    return digest(fingerprint + occurrence.to_bytes(8, "big")).hex()
