"""The services that speak OpenAI's wire with differences of their own, each below a path of its own: `/groq` ...

Read from the fact sheet and the services' own clients, and not from the table of the library: these are two readings.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct

from batchwork.simulator.openai.parse import bad

_DATES = re.compile(r".*_at\Z")
_CHAT, _EMBEDDINGS = "/chat/completions", "/embeddings"


class Service(Struct, frozen=True, kw_only=True):
    """How one of them differs from OpenAI."""

    name: str = "openai"  # by the price table
    calls: tuple[str, ...] = (_CHAT, "/responses", _EMBEDDINGS)  # what may be asked, live
    batched: tuple[str, ...] = (_CHAT, "/responses", _EMBEDDINGS)  # and in batches
    window: str = r"\d+[hd]"  # of a batch
    upload: str = "/files"
    purpose: str = "batch"
    form: tuple[str, ...] = ()  # fields that an upload must have
    inline: bool = False  # the requests of a batch stand in the call that creates it, its results in the batch
    line: Literal["call", "body"] = "call"
    model_at: Literal["body", "request_params", "batch"] = "body"
    metadata: bool = True
    upper: bool = False  # states are in capitals, and there are fewer
    iso: bool = False  # dates are ISO 8601
    bare_list: bool = False  # the list of batches is an array, and knows no parameters
    envelope: bool = False  # the answer to a creation holds the batch in `job`
    cursor: bool = True  # the list of batches has pages
    key: str | None = None  # the header of the key, where another than `authorization` is taken
    paths: Callable[[str, str], str] = lambda path, _: path  # the path of a call below `/v1`, by path and query

    def endpoint(self, stated: str) -> str:
        """The path of the calls of a batch; refused where they cannot be in one."""
        known = {f"/v1{path}": f"/v1{path}" for path in self.batched}
        if self.key == "api-key":  # the classic addresses have no version in them
            known |= {path: f"/v1{path}" for path in self.batched}
        if stated not in known:
            raise bad(f"Invalid value: '{stated}'. There are: {', '.join(known)}.", "endpoint")
        return known[stated]

    def shown(self, batch: dict[str, Any]) -> dict[str, Any]:
        """A batch object as this service shows it."""
        shown = dict(batch)
        if self.inline:
            errors = shown.pop("errors")
            shown["error"] = None if errors is None else {"message": errors["data"][0]["message"]}
            shown = {name: value for name, value in shown.items() if not name.endswith("file_id")}
        if not self.metadata:
            shown.pop("metadata", None)
        if self.upper:
            status = {"finalizing": "in_progress", "cancelling": "in_progress"}.get(shown["status"], shown["status"])
            counts = shown.pop("request_counts")
            done = counts["completed"] + counts["failed"]
            shown |= {"status": status.upper(), "progress": 100.0 * done / max(1, counts["total"])}
            if errors := shown.pop("errors", None):
                shown["error"] = errors["data"][0]["message"]
        if self.iso:
            for name, value in shown.items():
                if _DATES.match(name) and isinstance(value, int):
                    shown[name] = datetime.fromtimestamp(value, UTC).isoformat().replace("+00:00", "Z")
        return shown


def _azure_path(path: str, query: str) -> str:
    """Both families of addresses: `/openai/v1/...`, and the classic ones with a version in every query."""
    if path.startswith("/openai/v1/"):
        return path.removeprefix("/openai")
    if "api-version=" not in query:
        raise bad("Missing required query parameter: api-version", "api-version")
    return "/v1" + re.sub(r"\A/openai(?:/deployments/[^/]+)?", "", path)


SERVICES = {
    "azure": Service(name="azure", key="api-key", paths=_azure_path),
    "groq": Service(
        name="groq",
        calls=(_CHAT, _EMBEDDINGS),
        batched=(_CHAT,),
        window=r"24h|[2-7]d|48h|72h|96h|120h|144h|168h",
        cursor=False,
        paths=lambda path, _: path.removeprefix("/openai"),
    ),
    "together": Service(
        name="together",
        calls=(_CHAT, _EMBEDDINGS),
        batched=(_CHAT,),
        window="24h",
        upload="/files/upload",
        purpose="batch-api",
        form=("file_name",),
        line="body",
        metadata=False,
        upper=True,
        iso=True,
        bare_list=True,
        envelope=True,
    ),
    "openrouter": Service(
        name="openrouter", calls=(_CHAT,), batched=(_CHAT,), inline=True, line="body", model_at="batch", metadata=False
    ),
    "voyage": Service(
        name="voyageai",
        calls=(_EMBEDDINGS,),
        batched=(_EMBEDDINGS,),
        window="12h",
        line="body",
        model_at="request_params",
        iso=True,
    ),
    "mistral": Service(name="mistral", calls=(_CHAT, _EMBEDDINGS), batched=()),
}
