"""Answer one request of a batch: the same personas and content faults as live, at the batch price."""

from typing import Literal

from batchwork.simulator.bill import Usage
from batchwork.simulator.errors import Refused
from batchwork.simulator.faults import CONTENT_KINDS, HTTP_KINDS
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
        Refused: a fault made it fail; it is not billed. Its status is the fault's, in no provider's words.
    """
    step = world.persona.step(prompt, entry.custom_id, seen)
    kind = None
    if step is not None:
        kind = None if step.kind == "ok" else step.kind
    elif world.faults.armed("item"):
        kind = world.faults.draw("item", world.roll("item", prompt.digest, seen))
    entry.fault = kind
    if kind is not None and kind not in CONTENT_KINDS:
        entry.status = int(kind) if kind in HTTP_KINDS and kind.isdigit() else 500
        raise Refused(entry.status, "simulated: this request failed", type=kind)
    said = speak(world.persona, prompt, kind, step)
    usage = world.with_cache(prompt, usage_for(prompt, said))
    entry.status, entry.usage, entry.answered, entry.billed = 200, usage, True, True
    return said, usage
