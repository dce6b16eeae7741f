"""semantic-frame 0.4.0 in an environment of its own, made on first use, spoken to over files."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".venv-semantic-frame"
VERSION = "semantic-frame==0.4.0"

_DESCRIBE = """
import json, sys, warnings
import numpy as np
from semantic_frame import describe_series
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
for key in sorted(data.files, key=int):
    try:
        r = describe_series(data[key], output="full")
    except Exception as error:
        print(json.dumps({"trend": 0, "season": False, "steps": [], "odd": [], "bimodal": False, "shape": "error"}))
        continue
    trend = 1 if "rising" in r.trend.value else -1 if "falling" in r.trend.value else 0
    print(json.dumps({
        "trend": trend,
        "season": bool(r.seasonality) and not r.seasonality.value.startswith("no "),
        "steps": [r.step_change_index] if r.step_change_index is not None else [],
        "odd": [int(a.index) for a in r.anomalies],
        "bimodal": bool(r.distribution) and "bimodal" in r.distribution.value,
        "shape": "" if not r.distribution else "uniform" if "uniform" in r.distribution.value
                 else "right-skewed" if "right" in r.distribution.value else "other",
    }))
"""

_NARRATE = """
import json, sys, warnings
import numpy as np
from semantic_frame import describe_series
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
for key in sorted(data.files, key=int):
    print(json.dumps(describe_series(data[key])))
"""

_TIME = """
import sys, time, warnings
import numpy as np
from semantic_frame import describe_series
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])["0"]
describe_series(data[:1000])
start = time.process_time()
describe_series(data)
print(time.process_time() - start)
"""


class Peer:
    """The peer's interpreter."""

    def __init__(self) -> None:
        self._python = HOME / "bin" / "python"
        if not self._python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
            subprocess.run([self._python, "-m", "pip", "install", "--quiet", VERSION], check=True)

    def _run(self, program: str, series: list[np.ndarray]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "series.npz"
            np.savez(path, **{str(i): values for i, values in enumerate(series)})
            done = subprocess.run([self._python, "-c", program, str(path)], check=True, capture_output=True, text=True)
        return done.stdout

    def describe(self, series: list[np.ndarray]) -> list[dict[str, Any]]:
        """Its claims for each series."""
        return [json.loads(line) for line in self._run(_DESCRIBE, series).splitlines()]

    def texts(self, series: list[np.ndarray]) -> list[str]:
        """Its description of each series."""
        return [json.loads(line) for line in self._run(_NARRATE, series).splitlines()]

    def seconds(self, values: np.ndarray) -> float:
        """CPU seconds for one series, imports and a first small call not counted."""
        return float(self._run(_TIME, [values]))
