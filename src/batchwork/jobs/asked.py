"""What a job is told, in the user's words, and the plan that follows from it. Nothing is opened here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from batchwork.assembly import Plan
from batchwork.core.errors import ConfigError
from batchwork.core.event import Event
from batchwork.core.request import Schema
from batchwork.documents import DocumentLimits
from batchwork.jobs.inputs import Files, Inputs, Messages, PdfMode
from batchwork.pipeline.prepare import Defaults
from batchwork.pipeline.typing import Finisher
from batchwork.plans import RunOptions, defaults_of, plan_of, refuse_unknown
from batchwork.schema import AnswerChecker

LIMITS = tuple(field.name for field in fields(DocumentLimits))
OWN = ("messages", "files", "prompt", "response_model", "enable_citations", "pdf", *LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Everything about a job, validated."""

    inputs: Inputs
    plan: Plan
    defaults: Defaults
    finisher: Finisher
    identity: dict[str, Any]  # what influences the answers, as JSON
    on_event: Callable[[Event], None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user said about input and answers; the rest are options of a run."""

    messages: Sequence[Any] | None = None
    files: Sequence[Any] | None = None
    prompt: str | None = None
    response_model: Any = None
    enable_citations: bool = False
    pdf: PdfMode = "text"


def asked(
    wish: Wish, options: dict[str, Any], *, also: Collection[str] = (), hidden: Collection[str] = frozenset()
) -> Asked:
    """A job out of what the user said; `also` names what the door takes itself, `hidden` what it says itself.

    Raises:
        ConfigError: something is missing, unknown, contradictory or not there; nothing was sent.
    """
    limits = DocumentLimits(**{name: options[name] for name in LIMITS if name in options})
    options = {name: value for name, value in options.items() if name not in LIMITS}
    refuse_unknown(options.keys() - hidden, {*OWN, *also, *RunOptions.__annotations__} - {*hidden})
    told = cast(RunOptions, {"mode": "batch", **options})
    model = wish.response_model
    if model is not None:
        if told.get("schema") is not None:
            raise ConfigError("response_model= and schema= are two ways to say the same: give one of them")
        told["schema"] = _schema_of(model)
    plan = plan_of(told)
    defaults = defaults_of(told)
    finisher = Finisher(model=model, schema=defaults.schema, cite=wish.enable_citations, limits=limits)
    if model is not None and defaults.schema is not None:
        plan = replace(plan, checker=_checker_for(model, defaults.schema))
    return Asked(
        inputs=_inputs_of(wish, limits, defaults),
        plan=plan,
        defaults=defaults,
        finisher=finisher,
        identity=_identity(wish, defaults),
        on_event=told.get("on_event"),
    )


def _inputs_of(wish: Wish, limits: DocumentLimits, defaults: Defaults) -> Inputs:
    if (wish.messages is None) == (wish.files is None):
        given = "neither was given" if wish.messages is None else "both were given"
        raise ConfigError(f"give messages=, or files= with prompt=: {given}")
    if wish.messages is not None:
        if wish.prompt is not None:
            raise ConfigError("prompt= goes with files=; messages= say themselves what is asked")
        return Messages(wish.messages, defaults)
    assert wish.files is not None
    # No provider combines its own citations with constrained output: there our finder works alone.
    cited = wish.enable_citations and defaults.schema is None
    return Files(wish.files, wish.prompt, pdf=wish.pdf, cited=cited, limits=limits)


def _schema_of(model: Any) -> dict[str, Any]:
    from pydantic import BaseModel  # noqa: PLC0415 - slow to import, and only a typed job needs it

    from batchwork.schema import schema_from_model  # noqa: PLC0415

    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise ConfigError(f"response_model is a Pydantic model class, not {model!r}; a JSON schema is given as schema=")
    return schema_from_model(model)


def _checker_for(model: Any, schema: Schema) -> AnswerChecker:
    """The model's own validators have a say, so that what they refuse is asked again."""
    from batchwork.schema import ModelChecker  # noqa: PLC0415

    return AnswerChecker({schema.digest: ModelChecker(model)})


def _identity(wish: Wish, defaults: Defaults) -> dict[str, Any]:
    told: dict[str, Any] = {"prompt": wish.prompt, "system": defaults.system, "max_tokens": defaults.max_tokens}
    told["response_model"] = None if wish.response_model is None else wish.response_model.__name__
    told["schema"] = None if defaults.schema is None else defaults.schema.body
    told["enable_citations"] = wish.enable_citations
    told |= {"pdf": wish.pdf} if wish.files is not None else {}
    told |= {"sampling": defaults.sampling} if defaults.sampling else {}
    told |= {"extra_body": defaults.extra_body} if defaults.extra_body else {}
    return {name: value for name, value in told.items() if value is not None}
