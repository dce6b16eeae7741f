"""A provider on loopback: wire-faithful, with faults, rate limits, batches and a bill.

Every answer says that it is simulated. Public: `Simulator`, `SimulatorConfig`, `Latency`, `Faults`.
"""

from batchwork.simulator.config import Latency, SimulatorConfig
from batchwork.simulator.errors import SimulatorConfigError
from batchwork.simulator.faults import Faults
from batchwork.simulator.server import Simulator

__all__ = ["Faults", "Latency", "Simulator", "SimulatorConfig", "SimulatorConfigError"]
