"""The options of a job or manager in the user's words, and the prepared job that follows. Nothing is opened here."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self, cast, get_args

from batchwork.core.errors import ConfigError
from batchwork.core.prompt import Defaults
from batchwork.documents import DocumentLimits
from batchwork.engine.engine import Supplied
from batchwork.input_source import checked_table, row_requests
from batchwork.manager.finisher import Evidence, Finisher
from batchwork.manager.inputs import Files, Inputs, Messages, PdfMode, TableRows
from batchwork.manager.quoting import Quoting
from batchwork.options import RunOptions, defaults_of, plan_of, refuse_unknown, supplied_of
from batchwork.plan import Plan

CitationMode = Literal["found", "quoted"]
LIMITS = tuple(field.name for field in fields(DocumentLimits))
OWN = ("messages", "files", "prompt", "response_model", "enable_citations", "citations", "pdf", *LIMITS)


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

    messages: Any = None
    files: Sequence[Any] | None = None
    prompt: str | None = None
    response_model: Any = None
    enable_citations: bool = False
    citations: CitationMode | None = None
    pdf: PdfMode = "text"

    def __post_init__(self) -> None:
        if self.citations not in (None, *get_args(CitationMode)):
            raise ConfigError(f"citations must be 'found' or 'quoted', got {self.citations!r}")

    @property
    def cite(self) -> bool:
        """Whether places are cited at all."""
        return self.enable_citations or self.citations is not None

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
    written: Callable[[int, Any], Evidence | None] | None = None,
    is_reopened: bool = False,
) -> PreparedJob:
    """A job out of its options, else ConfigError; `also` names what the door takes itself, `hidden` what it sets.

    One that `is_reopened` may be looked at without its files.
    """
    limits = DocumentLimits(**{name: options[name] for name in LIMITS if name in options})
    options = {name: value for name, value in options.items() if name not in LIMITS}
    refuse_unknown(options.keys() - hidden, {*OWN, *also, *RunOptions.__annotations__} - {*hidden})
    model = own.response_model
    run_options = cast(RunOptions, {"mode": "batch", **options, "response_model": model, "prompt": own.prompt})
    plan = plan_of(run_options, keep_bodies=keep_bodies)
    supplied = supplied_of(run_options)
    defaults = defaults_of(run_options)
    quoting = Quoting.of(defaults.schema) if own.citations == "quoted" else None
    if quoting is not None:
        supplied = replace(supplied, checker=quoting.checker(model))
    inputs = _inputs_of(own, run_options, limits, defaults, quoting)
    if not is_reopened:
        inputs.check()
    source_of = inputs.path if isinstance(inputs, Files) else None
    finisher = Finisher(
        model=model,
        schema=defaults.schema,
        cite=own.cite,
        quoting=quoting,
        limits=limits,
        written=written,
        source_of=source_of,
    )
    return PreparedJob(
        inputs=inputs,
        plan=plan,
        supplied=supplied,
        finisher=finisher,
        identity=_identity(own, run_options, defaults),
    )


def _inputs_of(
    own: JobOptions, options: RunOptions, limits: DocumentLimits, defaults: Defaults, quoting: Quoting | None
) -> Inputs:
    if (own.messages is None) == (own.files is None):
        given = "neither was given" if own.messages is None else "both were given"
        raise ConfigError(f"give messages=, or files= with prompt=: {given}")
    if own.messages is not None:
        requests = row_requests(options, defaults)
        if requests is None:
            return Messages(own.messages, defaults, quoting)
        return TableRows(checked_table(own.messages, requests), requests, quoting)
    for name in ("template", "per_row"):
        if options.get(name) is not None:
            raise ConfigError(f"{name}= goes with a table (messages=), not with files=")
    assert own.files is not None
    # No provider combines its own citations with constrained output: there our finder works alone.
    cited = own.cite and defaults.schema is None
    return Files(own.files, own.prompt, defaults, pdf=own.pdf, cited=cited, limits=limits, quoting=quoting)


def _identity(own: JobOptions, options: RunOptions, defaults: Defaults) -> dict[str, Any]:
    identity: dict[str, Any] = {"prompt": own.prompt, "system": defaults.system, "max_tokens": defaults.max_tokens}
    if options.get("template") is not None:
        identity["template"] = str(options["template"])
    if options.get("per_row") is not None:
        identity["per_row"] = dict(options["per_row"] or {})
    identity["response_model"] = None if own.response_model is None else own.response_model.__name__
    identity["schema"] = None if defaults.schema is None else defaults.schema.body
    identity["enable_citations"] = own.cite
    identity |= {"citations": own.citations} if own.citations == "quoted" else {}
    identity |= {"pdf": own.pdf} if own.files is not None else {}
    identity |= {"sampling": defaults.sampling} if defaults.sampling else {}
    identity |= {"extra_body": defaults.extra_body} if defaults.extra_body else {}
    return {name: value for name, value in identity.items() if value is not None}
