"""Answer one request of a batch: the same personas and content faults as live, at the batch price."""

from typing import Literal

from batchwork.simulator.bill import Usage
from batchwork.simulator.errors import Refused
from batchwork.simulator.fault_kinds import HTTP_KINDS, LATE_KINDS, LOST_LINES
from batchwork.simulator.log import Entry, preview_of
from batchwork.simulator.prompt import Prompt, Said
from batchwork.simulator.speaking import speak, usage_for
from batchwork.simulator.world import World


def received(
    world: World, api: Literal["anthropic", "openai"], prompt: Prompt, *, path: str, custom_id: str, batch_id: str
) -> tuple[Entry, int]:
    """Write a request of a batch into the log; returns how often its prompt was seen before."""
    entry = Entry(
        number=world.next_number(),
        api=api,
        path=path,
        model=prompt.model,
        prompt=prompt.digest,
        preview=preview_of(prompt.last),
        at=world.clock.now(),
        custom_id=custom_id,
        batch_id=batch_id,
        tier="batch",
    )
    return entry, world.log.receive(entry)


def received_invalid(
    world: World, api: Literal["anthropic", "openai"], model: str, *, path: str, custom_id: str, batch_id: str
) -> None:
    """Write a request into the log that can never be answered."""
    entry = Entry(
        number=world.next_number(),
        api=api,
        path=path,
        model=model,
        prompt=f"invalid:{custom_id}",
        preview="",
        at=world.clock.now(),
        custom_id=custom_id,
        batch_id=batch_id,
        tier="batch",
        status=400,
    )
    world.log.receive(entry)


def answer_item(world: World, prompt: Prompt, entry: Entry, seen: int) -> tuple[Said, Usage]:
    """The answer of one request, billed.

    Raises:
        Refused: a fault made it fail; it is not billed. Its type is the fault: one of `LATE_KINDS`, or a status.
    """
    step = world.persona.step(prompt, entry.custom_id, seen)
    kind = None
    if step is not None:
        kind = None if step.kind == "ok" else step.kind
    elif world.faults.armed("item"):
        kind = world.faults.draw("item", world.roll("item", prompt.digest, seen))
    entry.fault = kind
    if kind is not None and (kind in HTTP_KINDS or kind in LATE_KINDS):
        entry.status = int(kind) if kind.isdigit() else 500
        raise Refused(entry.status, "simulated: this request failed", type=kind)
    said = speak(world.persona, prompt, kind, step)
    usage = world.with_cache(prompt, usage_for(prompt, said))
    entry.status, entry.usage, entry.billed = 200, usage, True
    entry.answered = kind not in LOST_LINES
    return said, usage


def status_of(refused: Refused) -> str:
    """The status fault that a failed request is told with; those of the whole call come out as 500."""
    return refused.type if refused.type in HTTP_KINDS - {"401", "413", "quota"} else "500"


def written(line: bytes, kind: str | None) -> bytes:
    """The result line as it stands in the file, under a fault of its request."""
    match kind:
        case "missing":
            return b""
        case "not_json":
            return line[: len(line) // 2] + b"\n"
        case "duplicated":
            return line + line
        case _:
            return line
