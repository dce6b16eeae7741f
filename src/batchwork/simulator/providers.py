"""The providers' own data, from `providers.toml`: their models, known fields, and the words of their failures."""

from pathlib import Path

import msgspec
from msgspec import Struct

from batchwork.simulator.errors import Refused


class FaultAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The error that a fault is answered with, where it is not what its kind says; `{model}` is that of the call."""

    status: int | None = None
    type: str | None = None
    message: str | None = None
    code: str | None = None


class Provider(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider."""

    models: tuple[str, ...]
    fields: frozenset[str] = frozenset()
    beta_fields: frozenset[str] = frozenset()
    config_fields: frozenset[str] = frozenset()
    silent_blocks: frozenset[str] = frozenset()
    schema_refused: tuple[str, ...] = ()
    error_types: dict[int, str] = {}  # by status; "invalid_request_error" where there is none
    faults: dict[str, FaultAnswer]

    def fault(self, kind: str, model: str = "", retry_after_s: float = 0.0) -> Refused:
        """A status fault in the provider's words; only a 429 names a wait."""
        answer = self.faults.get(kind) or FaultAnswer()
        status = answer.status or int(kind)
        type_ = answer.type or self.error_types.get(status, "invalid_request_error")
        message = (answer.message or _read.messages[kind]).format(model=model)
        wait = retry_after_s if kind == "429" else None
        return Refused(status, message, type=type_, code=answer.code, retry_after_s=wait)

    def error_type(self, refused: Refused) -> str:
        """The `type` of an error: its own, or the one that its status stands for."""
        usual = refused.type == "invalid_request_error"
        return self.error_types.get(refused.status, refused.type) if usual else refused.type


class _Providers(Struct, frozen=True, forbid_unknown_fields=True):
    messages: dict[str, str]
    anthropic: Provider
    openai: Provider
    gemini: Provider
    mistral: Provider
    bedrock: Provider


_read = msgspec.toml.decode(Path(__file__).with_name("providers.toml").read_bytes(), type=_Providers, strict=False)
ANTHROPIC, OPENAI = _read.anthropic, _read.openai
GEMINI, MISTRAL, BEDROCK = _read.gemini, _read.mistral, _read.bedrock
