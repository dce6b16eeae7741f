"""`python -m perf.frame.gallery`: draw the ten series of docs/frame.md again and put their texts in place."""

from __future__ import annotations

import re

import numpy as np

from batchwork.frame import describe_series, plot
from perf.frame.peer import ROOT

PAGE = ROOT / "docs" / "frame.md"


def series() -> dict[str, np.ndarray]:
    """Ten series, each with something different to say."""
    dice = np.random.default_rng(2026)
    at = np.arange(400)
    noise = lambda: dice.standard_normal(400)  # noqa: E731 - a fresh draw for each series
    mixed = 20 + 0.015 * at + 3 * np.sin(2 * np.pi * at / 24) + 6.0 * (at >= 250) + noise()
    mixed[[90, 330]] += (14.0, -14.0)
    mixed[150:158] = np.nan
    spikes = noise()
    spikes[[60, 200, 201, 202, 310]] += (9, -10, -10, -10, 12)
    return {
        "noise": 100 + 5 * noise(),
        "line": 0.01 * at + noise(),
        "curve": 8 * np.expm1(3 * at / 400) / np.expm1(3) + noise(),
        "season": 50 + 4 * np.sin(2 * np.pi * at / 30) + 2 * (at % 7 == 0) + noise(),
        "steps": 3.0 * np.array([0, 2, 1, 3])[at // 100] + noise(),
        "walk": np.cumsum(noise()),
        "spikes": spikes,
        "two-modes": np.where(dice.random(400) < 0.5, 10.0, 15.0) + noise(),
        "louder": noise() * np.where(at < 220, 1.0, 2.2),
        "everything": mixed,
    }


def main() -> None:
    page = PAGE.read_text()
    for name, values in series().items():
        plot(values, ROOT / "docs" / "frame" / f"{name}.png", title=name)
        text = describe_series(values)
        block = f"<!-- {name} -->\n![{name}](frame/{name}.png)\n\n> {text}\n<!-- end -->"
        page = re.sub(rf"<!-- {name} -->.*?<!-- end -->", lambda _, b=block: b, page, flags=re.DOTALL)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
