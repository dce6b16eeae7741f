"""Classify 60 support messages into typed results with one BatchManager; no key, no network.

The provider is the simulator on loopback, whose `reader` persona answers from the text alone.
"""

from pydantic import BaseModel

from batchwork import BatchManager
from batchwork.simulator import Simulator, SimulatorConfig

PRODUCTS = ["kettle", "lamp", "router", "chair", "drill"]


class Ticket(BaseModel):
    """What we want to know about a message."""

    customer: str
    product: str
    order_number: int


def main() -> None:
    """Ask, then show what came back."""
    messages = [
        [
            {
                "role": "user",
                "content": f"Customer: Person {i}\nProduct: {PRODUCTS[i % 5]}\nOrder number: {4000 + i}\n\n"
                "Extract customer, product and order number.",
            }
        ]
        for i in range(60)
    ]
    with Simulator(SimulatorConfig(persona="reader", batch_time_s=1.0)) as provider:
        manager = BatchManager(
            messages=messages,
            model="claude-haiku-5-5",
            response_model=Ticket,
            items_per_job=20,
            max_cost=1.0,
            base_url=provider.anthropic_url,
            api_key="not needed by the simulator",
            poll_interval=0.3,
        )
        results = manager.run(print_progress=True)
    print()
    for result in results[:3]:
        print(f"{result.original_index}: {result.value!r}, ${result.cost}")
    wrong = [r for i, r in enumerate(results) if r.value is None or r.value.order_number != 4000 + i]
    print(f"{len(results) - len(wrong)} of {len(results)} right, ${manager.stats.total_cost} in all")
    if wrong:
        raise SystemExit(f"wrong: {wrong[:3]}")


if __name__ == "__main__":
    main()
