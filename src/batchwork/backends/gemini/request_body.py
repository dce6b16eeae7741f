"""A request in Gemini's words: the body of `generateContent`, of `countTokens` and of a batch line."""

from typing import Any

from batchwork.backends import _content as content
from batchwork.backends._catalog import fact
from batchwork.backends._content import Block, Piece, WireSchemas, is_plain, system_and_turns, translated, untyped_turn
from batchwork.backends._failures import bad_input
from batchwork.core.request import Request

# Our names of the sampling parameters, and its own.
_SAMPLING = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "seed": "seed",
    "stop": "stopSequences",
    "stop_sequences": "stopSequences",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
SAMPLING = frozenset(_SAMPLING)
_ROLES = {"user": "user", "assistant": "model", "model": "model"}
# What batchwork itself decides, beside what it decides on every wire.
_OURS, _OURS_WITHIN = (
    frozenset({"contents", "generateContentRequest"}),
    frozenset({"maxOutputTokens", "candidateCount"}),
)
_MEDIA = ("image/", "audio/", "video/", "application/pdf")


class ContentBody:
    """Builds bodies for one model."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._config: dict[str, Any] = fact("gemini", model, "thinking_off") or {}
        self._schemas = WireSchemas.of("gemini")

    def build(self, request: Request) -> dict[str, Any]:
        """Everything that is sent for one request; what this wire cannot carry is a `BackendError`."""
        system, messages = system_and_turns(request)
        if request.documents or not is_plain(messages):
            messages = tuple(translated(messages, request.documents, _part))
        config: dict[str, Any] = {"maxOutputTokens": request.output_bound, **self._config}
        turns = [untyped_turn(message, "Gemini", _ROLES, "parts") for message in messages]
        body: dict[str, Any] = {"contents": turns, "generationConfig": config}
        if system:
            body["systemInstruction"] = {"parts": [{"text": system}]}
        if request.sampling:
            content.check_sampling(request.sampling, SAMPLING, "Gemini's API")
            config.update(_sampled(request.sampling))
        if request.schema is not None:
            config["responseMimeType"] = "application/json"
            config["responseJsonSchema"] = self._schemas.encoded(request.schema)
        if request.extra_body:
            _check_extra(request.extra_body)
            content.add_extra(body, request.extra_body)
        return body

    def to_count(self, request: Request) -> dict[str, Any]:
        """The same for a count of its tokens; what only an answer needs is left out there."""
        body = self.build(request)
        body.pop("generationConfig")
        return {"generateContentRequest": {"model": f"models/{self._model}", **body}}


def _part(piece: Piece) -> Block:
    if piece.citations:
        bad_input("citations by the provider exist at Anthropic alone: leave them off for this model")
    if piece.text is not None:
        return {"text": content.document_text(piece)}
    if piece.url is not None:
        return {"fileData": {"mimeType": piece.media_type, "fileUri": piece.url}}
    if not piece.media_type.startswith(_MEDIA):
        bad_input(f"Gemini takes images, sound, film, PDF and text, not {piece.media_type}: send its text")
    return {"inlineData": {"mimeType": piece.media_type, "data": piece.base64}}


def _sampled(sampling: dict[str, Any]) -> dict[str, Any]:
    found = {_SAMPLING[name]: value for name, value in sampling.items()}
    if isinstance(stop := found.get("stopSequences"), str):
        found["stopSequences"] = [stop]
    return found


def _check_extra(extra: dict[str, Any]) -> None:
    """Refuse what batchwork decides, and names in the other spelling, which Gemini takes for the same fields."""
    config = extra.get("generationConfig")
    within = config if isinstance(config, dict) else {}
    for names, ours, place in ((extra, _OURS, ""), (within, _OURS_WITHIN, "generationConfig.")):
        for name in names:
            if name in ours:
                bad_input(f"extra_body cannot set {f'{place}{name}'!r}: batchwork does, from the request itself")
            if "_" in name:
                bad_input(f"extra_body cannot set {name!r}: Gemini's fields are spelled {_camel(name)!r} here")
    if "generationConfig" in extra and not isinstance(config, dict):
        bad_input("extra_body cannot take 'generationConfig' away: batchwork sets maxOutputTokens there")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
