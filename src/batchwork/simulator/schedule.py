"""Decide when each request of a batch is done: spread over the batch's time, the last one at its end.

A batch is a plan, not a task: what has happened by now follows from the clock alone, so it runs on while
nobody looks, survives every disconnect, and a stepped clock is enough to finish it.
"""

from batchwork.simulator.config import SimulatorConfig
from batchwork.simulator.dice import generator


def finish_times(config: SimulatorConfig, batch_id: str, count: int, start: float) -> list[float]:
    """When each request is done, by its position."""
    dice = generator(config.seed, "batch", batch_id)
    times = [start + config.batch_time_s * (0.1 + 0.9 * dice.random()) for _ in range(count)]
    if times:
        times[dice.randrange(count)] = start + config.batch_time_s
    return times


def shuffled(config: SimulatorConfig, batch_id: str, count: int) -> list[int]:
    """The order of the result lines: never the order of asking, when there is another."""
    order = list(range(count))
    generator(config.seed, "order", batch_id).shuffle(order)
    if count > 1 and order == sorted(order):
        order.reverse()
    return order
