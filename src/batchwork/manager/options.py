"""The options of a job or manager in the user's words, and the prepared job that follows. Nothing is opened here."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self, cast

from batchwork.core.errors import ConfigError
from batchwork.core.prompt import Defaults
from batchwork.documents import DocumentLimits
from batchwork.engine.engine import Supplied
from batchwork.manager.finisher import Citations, Finisher
from batchwork.manager.inputs import Files, Inputs, Messages, PdfMode
from batchwork.options import RunOptions, defaults_of, plan_of, refuse_unknown, supplied_of
from batchwork.plan import Plan
from batchwork.schema import AnswerChecker

LIMITS = tuple(field.name for field in fields(DocumentLimits))
OWN = ("messages", "files", "prompt", "response_model", "enable_citations", "pdf", *LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedJob:
    """Everything about a job, validated."""

    inputs: Inputs
    plan: Plan
    supplied: Supplied
    finisher: Finisher
    identity: dict[str, Any]  # what influences the answers, as JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """The options about input and answers; the rest are options of a run."""

    messages: Sequence[Any] | None = None
    files: Sequence[Any] | None = None
    prompt: str | None = None
    response_model: Any = None
    enable_citations: bool = False
    pdf: PdfMode = "text"

    @classmethod
    def among(cls, arguments: dict[str, Any]) -> Self:
        """Those among the arguments of a door."""
        return cls(**{field.name: arguments[field.name] for field in fields(cls)})


def prepare_job(
    own: JobOptions,
    options: dict[str, Any],
    *,
    also: Collection[str] = (),
    hidden: Collection[str] = frozenset(),
    keep_bodies: bool = False,
    written: Callable[[int, Any], Citations | None] | None = None,
) -> PreparedJob:
    """A job out of its options, else ConfigError; `also` names what the door takes itself, `hidden` what it sets."""
    limits = DocumentLimits(**{name: options[name] for name in LIMITS if name in options})
    options = {name: value for name, value in options.items() if name not in LIMITS}
    refuse_unknown(options.keys() - hidden, {*OWN, *also, *RunOptions.__annotations__} - {*hidden})
    run_options = cast(RunOptions, {"mode": "batch", **options})
    model = own.response_model
    if model is not None:
        if run_options.get("schema") is not None:
            raise ConfigError("response_model= and schema= are two ways to say the same: give one of them")
        run_options["schema"] = _schema_of(model)
    plan = plan_of(run_options, keep_bodies=keep_bodies)
    supplied = supplied_of(run_options)
    defaults = defaults_of(run_options)
    cite = own.enable_citations
    finisher = Finisher(model=model, schema=defaults.schema, cite=cite, limits=limits, written=written)
    if model is not None and defaults.schema is not None:
        from batchwork.schema import ModelChecker  # noqa: PLC0415 - Pydantic is slow to import

        # The model's own validators have a say, so that what they refuse is asked again.
        supplied = replace(supplied, checker=AnswerChecker({defaults.schema.digest: ModelChecker(model)}))
    return PreparedJob(
        inputs=_inputs_of(own, limits, defaults),
        plan=plan,
        supplied=supplied,
        finisher=finisher,
        identity=_identity(own, defaults),
    )


def _inputs_of(own: JobOptions, limits: DocumentLimits, defaults: Defaults) -> Inputs:
    if (own.messages is None) == (own.files is None):
        given = "neither was given" if own.messages is None else "both were given"
        raise ConfigError(f"give messages=, or files= with prompt=: {given}")
    if own.messages is not None:
        if own.prompt is not None:
            raise ConfigError("prompt= goes with files=; messages= say themselves what is asked")
        return Messages(own.messages, defaults)
    assert own.files is not None
    # No provider combines its own citations with constrained output: there our finder works alone.
    cited = own.enable_citations and defaults.schema is None
    return Files(own.files, own.prompt, defaults, pdf=own.pdf, cited=cited, limits=limits)


def _schema_of(model: Any) -> dict[str, Any]:
    from pydantic import BaseModel  # noqa: PLC0415 - slow to import, and only a typed job needs it

    from batchwork.schema import schema_from_model  # noqa: PLC0415

    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise ConfigError(f"response_model is a Pydantic model class, not {model!r}; a JSON schema is given as schema=")
    return schema_from_model(model)


def _identity(own: JobOptions, defaults: Defaults) -> dict[str, Any]:
    identity: dict[str, Any] = {"prompt": own.prompt, "system": defaults.system, "max_tokens": defaults.max_tokens}
    identity["response_model"] = None if own.response_model is None else own.response_model.__name__
    identity["schema"] = None if defaults.schema is None else defaults.schema.body
    identity["enable_citations"] = own.enable_citations
    identity |= {"pdf": own.pdf} if own.files is not None else {}
    identity |= {"sampling": defaults.sampling} if defaults.sampling else {}
    identity |= {"extra_body": defaults.extra_body} if defaults.extra_body else {}
    return {name: value for name, value in identity.items() if value is not None}
