"""The options of a run in the user's words, and the plan that follows from them. Nothing is opened here."""

from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Required, TypedDict

from batchwork.backends import traits_of
from batchwork.core.address import is_plain, shown_address
from batchwork.core.dsn import Dsn, JournalAddress
from batchwork.core.errors import ConfigError
from batchwork.core.event import Event
from batchwork.core.failure import FailureKind
from batchwork.core.money import ceiling_from_dollars
from batchwork.core.policy import BatchPolicy, Policy, RatePolicy, RetryPolicy
from batchwork.core.ports import Backend, Traits
from batchwork.core.pricing import Price, price_from
from batchwork.core.prompt import Defaults
from batchwork.core.request import DEFAULT_MAX_TOKENS, Schema
from batchwork.engine.engine import Supplied
from batchwork.journals import journal_address
from batchwork.notify import NoticeTarget
from batchwork.plan import Plan, account_names
from batchwork.schema import AnswerChecker, check_schema
from batchwork.tables import RowOptions

# What the options of a run are called in its policies.
_RATES = {name: name for name in ("rpm", "input_tpm", "output_tpm")}
_POLICY = {
    "timeout": "timeout_s",
    "timeout_per_1k_chars": "timeout_per_1k_s",
    "max_wait": "max_wait_s",
    "max_consecutive_failures": "max_consecutive_failures",
    "retry_in_place": "retry_in_place",
    "reask": "reasks",
    "count_margin": "count_margin",
}
_BATCHES = {
    "items_per_batch": "most_items",
    "max_parallel_batches": "max_parallel",
    "poll_interval": "poll_first_s",
    "adopt_wait": "adopt_wait_s",
    "results_wait": "results_wait_s",
    "cancel_on_interrupt": "cancel_on_interrupt",
}
# Of an earlier run `retry` knows what is remembered, as `worker` does of one that goes on: never a key, nor how the run
# was watched.
_REMEMBERED = (
    *("mode", "max_in_flight", "max_cost", "account", "retries", "base_url", *_RATES, *_POLICY),
    *(name for name in _BATCHES if name != "cancel_on_interrupt"),
)

HIDDEN_ADDRESS = "hidden_base_url"  # what is remembered of an address in which there may be a secret

# What people know from the providers' own libraries.
_SAMPLING = (
    *("temperature", "top_p", "top_k", "min_p", "typical_p", "seed", "stop", "stop_sequences", "logit_bias"),
    *("presence_penalty", "frequency_penalty", "repeat_penalty", "repetition_penalty"),
)
# What people look for here and what another door has.
_ELSEWHERE = {
    **dict.fromkeys(
        ("messages", "files", "enable_citations", "citations", "pdf"), "it belongs to batch() and BatchManager"
    ),
    **dict.fromkeys(
        ("items_per_job", "max_parallel_jobs", "state_path", "save_results_dir"), "it belongs to BatchManager"
    ),
    "output": "results are what `run` returns; `batchwork results` writes a journal's into a file",
}
_NEAR = 0.7  # below, a hint only leads astray

_KINDS: dict[str, tuple[Any, str]] = {
    "journal": (str | Path | Dsn | None, "a path, or the address of a database"),
    "base_url": (str | None, "an address"),
    "api_key": (str | None, "a text"),
    "on_event": (Callable | None, "a function"),
    "notify": (str | None, "an address or a command"),
    "template": (str | Path | None, "a path"),
    "progress": (bool | None, "True or False"),
    **dict.fromkeys(("fresh", "retry_in_place", "cancel_on_interrupt", "view"), (bool, "True or False")),
}


class RunOptions(TypedDict, total=False):
    """The options of a run. See `run`."""

    model: Required[str]
    prompt: str | None
    template: str | Path | None
    per_row: Mapping[str, str] | None
    mode: Literal["live", "batch"]
    system: str | None
    max_tokens: int
    schema: dict[str, Any] | bool | None
    response_model: Any
    sampling: dict[str, Any] | None
    extra_body: dict[str, Any] | None
    max_in_flight: int | None
    max_cost: float | Decimal | str | None
    account: str | Sequence[str] | None
    price: tuple[float, float] | str | Price | None
    rpm: float | None
    input_tpm: float | None
    output_tpm: float | None
    retries: int
    timeout: float
    timeout_per_1k_chars: float
    max_wait: float
    max_consecutive_failures: int
    retry_in_place: bool
    reask: int
    count_margin: float
    items_per_batch: int | None
    max_parallel_batches: int
    poll_interval: float
    adopt_wait: float
    results_wait: float
    cancel_on_interrupt: bool
    journal: str | JournalAddress | None
    fresh: bool
    retry_failed: bool | Collection[FailureKind]
    backend: Backend | None
    base_url: str | None
    api_key: str | None
    on_event: Callable[[Event], None] | None
    notify: str | None
    progress: bool | None
    view: bool


def plan_of(options: RunOptions, *, keep_bodies: bool = False) -> Plan:
    """The plan behind a run's options, else ConfigError; `keep_bodies` keeps the provider's JSON with every answer."""
    refuse_unknown(options, RunOptions.__annotations__)
    _refuse_wrong(options)
    _refuse_sampling(options)
    max_cost = options.get("max_cost")
    journal = options.get("journal")
    return Plan(
        model=options["model"],
        mode=_mode_of(options),
        policy=Policy(
            max_in_flight=_window_of(options),
            rates=RatePolicy(**_named(options, _RATES)),
            retry=RetryPolicy.of(options.get("retries", RetryPolicy().retries)),
            max_cost_nano=None if max_cost is None else _ceiling(max_cost),
            batch=BatchPolicy(**_named(options, _BATCHES)),
            **_named(options, _POLICY),
        ),
        accounts=account_names(options.get("account")),
        price=price_from(options.get("price")),
        journal=None if journal is None else journal_address(journal),
        fresh=options.get("fresh", False),
        retry_failed=_kinds_of(options.get("retry_failed", False)),
        base_url=options.get("base_url"),
        api_key=options.get("api_key"),
        keep_bodies=keep_bodies,
        settings=_remembered(options),
    )


def supplied_of(options: RunOptions) -> Supplied:
    """The objects and callbacks among a run's options, which `plan_of` has looked at."""
    model = options.get("response_model")
    notify = None if (target := options.get("notify")) is None else NoticeTarget(target)
    if notify is not None:
        notify.check()
    return Supplied(
        checker=_checker_of(model),
        response_model=model,
        backend=options.get("backend"),
        view=options.get("view", False),
        on_event=options.get("on_event"),
        notify=notify,
    )


def _checker_of(model: Any) -> AnswerChecker:
    """The checker of answers; a model's own validators have a say, so that what they refuse is asked again."""
    if model is None:
        return AnswerChecker()
    from batchwork.schema import ModelChecker  # noqa: PLC0415 - Pydantic is slow to import

    return AnswerChecker({Schema.of(_model_schema(model)).digest: ModelChecker(model)})


def _model_schema(model: Any) -> dict[str, Any]:
    from pydantic import BaseModel  # noqa: PLC0415 - slow to import, and only a typed run needs it

    from batchwork.schema import schema_from_model  # noqa: PLC0415

    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise ConfigError(f"response_model is a Pydantic model class, not {model!r}; a JSON schema is given as schema=")
    return schema_from_model(model)


def _kinds_of(retry_failed: object) -> frozenset[FailureKind]:
    """The kinds of failure to send again: none, all, or those named."""
    if isinstance(retry_failed, bool):
        return frozenset(FailureKind) if retry_failed else frozenset()
    try:
        return frozenset(FailureKind(kind) for kind in retry_failed)  # type: ignore[attr-defined]
    except (TypeError, ValueError) as error:
        raise ConfigError(f"retry_failed must be True, False or kinds of failure, got {retry_failed!r}") from error


def _ceiling(max_cost: float | Decimal | str) -> int:
    try:
        return ceiling_from_dollars(max_cost)
    except ConfigError as error:
        raise ConfigError(f"max_cost: {error}") from None


def _mode_of(options: RunOptions) -> Literal["live", "batch"]:
    mode = options.get("mode", "live")
    if mode not in ("live", "batch"):
        raise ConfigError(f"mode must be 'live' or 'batch', got {mode!r}")
    return mode


def _remembered(options: RunOptions) -> dict[str, Any]:
    settings: dict[str, Any] = {name: value for name in _REMEMBERED if (value := options.get(name)) is not None}
    if isinstance(price := options.get("price"), str | tuple | list):
        settings["price"] = price if isinstance(price, str) else ",".join(map(str, price))
    if not is_plain(settings.get("base_url", "")):
        settings[HIDDEN_ADDRESS] = shown_address(settings.pop("base_url"))
    if "max_cost" in settings:
        settings["max_cost"] = str(settings["max_cost"])
    return settings


def _named(options: RunOptions, names: dict[str, str]) -> dict[str, Any]:
    """Those of the options that were given, under the names of a policy."""
    return {names[name]: value for name, value in options.items() if name in names}


def _window_of(options: RunOptions) -> int:
    """What the user says, else what suits the backend: a call that is a whole process suits fewer at once."""
    window = options.get("max_in_flight")
    return window if window is not None else _traits_of(options).default_in_flight or Policy().max_in_flight


def _traits_of(options: RunOptions) -> Traits:
    backend = options.get("backend")
    return backend.traits if backend is not None else traits_of(options["model"], options.get("base_url"))[0]


def _refuse_sampling(options: RunOptions) -> None:
    """Parameters that the backend never takes are refused once, before anything is sent, not item by item."""
    takes = _traits_of(options).sampling
    per_row = RowOptions(options.get("per_row"))
    refuse_unknown(per_row.columns, {"system", "max_tokens", *_SAMPLING}, in_="per_row")
    for name in (*(options.get("sampling") or ()), *per_row.sampling):
        if takes is not None and name not in takes:
            known = f"it takes {', '.join(sorted(takes))}" if takes else "it takes none"
            raise ConfigError(f"{options['model']} does not take the sampling parameter {name!r}; {known}")


def defaults_of(options: RunOptions) -> Defaults:
    """What every request of a run has, else ConfigError."""
    schema: Any = options.get("schema")
    if (model := options.get("response_model")) is not None:
        if schema is not None:
            raise ConfigError("response_model= and schema= are two ways to say the same: give one of them")
        schema = _model_schema(model)
    if schema is not None:
        check_schema(schema)
    return Defaults(
        model=options["model"],
        system=options.get("system"),
        max_tokens=options.get("max_tokens", DEFAULT_MAX_TOKENS),
        schema=None if schema is None else Schema.of(schema),
        sampling=options.get("sampling"),
        extra_body=options.get("extra_body"),
    )


def _refuse_wrong(options: RunOptions) -> None:
    if not isinstance(options.get("model"), str):
        raise ConfigError("model= is required, for example model='mock:echo'")
    backend = options.get("backend")
    if backend is not None and not (hasattr(backend, "complete") and hasattr(backend, "traits")):
        raise ConfigError(f"backend must have `complete` and `traits`, which {type(backend).__name__} has not")
    for name, value in options.items():
        kind, a_kind = _KINDS.get(name, (object, ""))
        if not isinstance(value, kind):
            # A key in a wrong form may still be a key.
            hidden = name in ("api_key", "notify") or (name == "base_url" and not isinstance(value, int | float))
            got = "something else" if hidden else repr(value)
            raise ConfigError(f"{name} must be {a_kind}, got {got}")


def refuse_unknown(given: Collection[str], takes: Collection[str], *, in_: str | None = None) -> None:
    """Refuse what a door does not take with a ConfigError, and hint at what it does."""
    for name in given:
        if name in takes:
            continue
        if in_ is not None:
            raise ConfigError(f"unknown option {name!r} in {in_}; there are {', '.join(sorted(takes))}")
        if name in _ELSEWHERE:
            raise ConfigError(f"unknown option {name!r}: {_ELSEWHERE[name]}")
        near = get_close_matches(name, (*takes, *sorted(_SAMPLING)), n=1, cutoff=_NEAR)
        if near and near[0] in _SAMPLING:
            raise ConfigError(f"unknown option {name!r}: it goes into sampling={{{near[0]!r}: ...}}")
        raise ConfigError(f"unknown option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
