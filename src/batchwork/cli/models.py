"""`batchwork models`: the providers there are, and the models that are known of one, with prices and their source."""

from decimal import Decimal
from typing import Annotated

import msgspec
import typer

from batchwork.backends import known_ids, known_prefixes, traits_of
from batchwork.cli.inputs import print_json
from batchwork.cli.options import AsJson
from batchwork.core.errors import ConfigError
from batchwork.core.price_tables import listed_models, resolve
from batchwork.core.pricing import Price
from batchwork.core.providers import Provider, providers, service_of
from batchwork.settings import Settings

_UNKNOWN = "unknown"


class ModelLine(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one model: dollars per million tokens, and who says so."""

    model: str
    input: Decimal | None = None
    output: Decimal | None = None
    batch_input: Decimal | None = None
    batch_output: Decimal | None = None
    source: str = _UNKNOWN


def models(
    provider: Annotated[
        str | None, typer.Argument(metavar="[PROVIDER]", help="Its models; none: the providers.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What is known: the providers, or the models of one with their prices and where those come from. Sends nothing.

    A model that is not listed works all the same: providers add models faster than anybody lists them. Without a known
    price, --price IN,OUT or a file that BATCHWORK_PRICES names states one.

    \b
    Examples:
      batchwork models
      batchwork models groq
      batchwork models openai --json
    """
    if provider is None:
        _print([_about(name) for name in known_prefixes()], as_json=as_json)
        return
    name = service_of(provider) or provider
    if name not in known_prefixes():
        raise ConfigError(f"unknown provider {provider!r}; there are {', '.join(known_prefixes())}")
    found = lines_of(name)
    rows = [msgspec.to_builtins(line, builtin_types=(Decimal,)) for line in found]
    _print([{key: _shown(value) for key, value in row.items()} for row in rows], as_json=as_json)
    if not found:
        print(f"no model of {name} is known by name; {name}:NAME takes any")


def lines_of(name: str) -> list[ModelLine]:
    """The models of a provider that are known by name."""
    row = providers().get(name)
    listed = listed_models(row.prices) if row is not None and row.prices is not None else []
    if row is not None and row.wire != "chat" and row.bare_ids is not None:
        listed = [model for model in listed if row.bare_ids.fullmatch(model)]  # the table has others' at the same host
    table = Settings.from_environment().price_table()
    stated = [] if table is None else [model.partition(f"{name}:")[2] or model for model in table.live]
    own = [model for model in stated if model in listed or f"{name}:{model}" in (table.live if table else ())]
    return [_line(name, model) for model in dict.fromkeys([*known_ids(name), *own, *listed])]


def _line(name: str, model: str) -> ModelLine:
    traits, listed = traits_of(f"{name}:{model}")
    if traits.free:
        return ModelLine(model=f"{name}:{model}", input=Decimal(0), output=Decimal(0), source="free")
    table = Settings.from_environment().price_table()

    def price(*, batch: bool = False, has_output: bool = True) -> Price | None:
        stated = None if table is None else table.find(listed, provider=traits.price_provider, batch=batch)
        return stated or resolve(listed, provider=traits.price_provider, batch=batch, has_output=has_output)

    answers = price()
    live = answers or price(has_output=False)  # embeddings have no output
    if live is None:
        return ModelLine(model=f"{name}:{model}")
    has_output = answers is not None
    batches = traits.batches if has_output else _embeds_in_batches(name)
    in_batch = price(batch=True, has_output=has_output) if batches else None
    line = ModelLine(
        model=f"{name}:{model}",
        input=live.dollars[0],
        output=live.dollars[1] if has_output else None,
        source=live.source,
    )
    if in_batch is None or in_batch.dollars == live.dollars:
        return line
    return msgspec.structs.replace(
        line,
        batch_input=in_batch.dollars[0],
        batch_output=in_batch.dollars[1] if has_output else None,
        source=live.source if in_batch.source.endswith(", batch") else f"{live.source}; batches {in_batch.source}",
    )


def _embeds_in_batches(name: str) -> bool:
    row = providers().get(name)
    return row is not None and row.batch is not None and "embeddings" in row.batch.serves


def _about(name: str) -> dict[str, str]:
    row = providers().get(name)
    if row is None:
        return {"provider": name, "takes": "chat", "key": "", "address": ""}
    return {"provider": name, "takes": _takes(name, row), "key": " or ".join(row.keys), "address": row.base_url}


def _takes(name: str, row: Provider) -> str:
    takes = ["chat"] if row.chat else []
    if row.embeddings is not None:
        takes.append("embeddings")
    if row.batch is not None or traits_of(f"{name}:any")[0].batches:
        takes.append("batches")
    return ", ".join(takes)


def _shown(value: object) -> object:
    return f"{value.normalize():f}" if isinstance(value, Decimal) else value


def _print(rows: list[dict[str, object]] | list[dict[str, str]], *, as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    if not rows:
        return
    names = list(rows[0])
    texts = [names, *([str(row[name] if row[name] is not None else "") for name in names] for row in rows)]
    widths = [max(len(row[at]) for row in texts) for at in range(len(names))]
    for row in texts:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
