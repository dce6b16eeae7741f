"""Write the reports of a run into its folder, each file whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.config import FORMATS, ConfigurationError
from benchmarks.report.figures import Summary
from benchmarks.report.markdown import render_markdown
from benchmarks.report.runfiles import write_whole
from benchmarks.report.summary import summarise
from benchmarks.report.tables import render_csv, render_json
from benchmarks.trial import Call, RunInfo

JSON, CSV, MARKDOWN, PAGE = "benchmark_results.json", "benchmark_results.csv", "benchmark_report.md", "report.html"
CHARTS = "charts"
_SHARPNESS = 2.0  # pixels of a PNG per point


def write_reports(
    folder: Path, info: RunInfo, calls: Sequence[Call], formats: Sequence[str] = FORMATS, charts: bool = True
) -> list[Path]:
    """Write the reports in these formats, and the charts with the page that holds them all; returns the files.

    Raises:
        ConfigurationError: an unknown format.
        OSError: the folder cannot be written.
    """
    unknown = set(formats) - set(FORMATS)
    if unknown:
        raise ConfigurationError(f"unknown format {unknown.pop()!r}; there are {', '.join(FORMATS)}")
    summary = summarise(info, calls)
    bodies: dict[str, bytes] = {}
    if "json" in formats:
        bodies[JSON] = render_json(summary)
    if "csv" in formats:
        bodies[CSV] = render_csv(summary).encode()
    pictures: dict[str, str] = {}
    if charts:
        drawn, pictures = _draw(summary)
        bodies |= drawn
    if "markdown" in formats:
        bodies[MARKDOWN] = render_markdown(summary, pictures).encode()
    for name, body in bodies.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, body)
    return [folder / name for name in bodies]


def _draw(summary: Summary) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files of the charts and the page, and where the picture of each chart is.

    The libraries are loaded here, so that a run without charts neither needs them nor waits for them.
    """
    import vl_convert  # noqa: PLC0415

    from benchmarks.report.charts import draw  # noqa: PLC0415
    from benchmarks.report.page import EXPOSED, render_page  # noqa: PLC0415

    specs = draw(summary)
    bodies: dict[str, bytes] = {}
    drawings: dict[str, str] = {}
    for name, spec in specs.items():
        svg = vl_convert.vegalite_to_svg(spec)
        drawings[f"{CHARTS}/{name}.svg"] = svg
        bodies[f"{CHARTS}/{name}.svg"] = svg.encode()
        bodies[f"{CHARTS}/{name}.png"] = vl_convert.svg_to_png(svg, scale=_SHARPNESS)
    pictures = {name: f"{CHARTS}/{name}.svg" for name in specs}
    title = f"Benchmark: {', '.join(summary.run.treatments)} against {summary.run.baseline}"
    markdown = render_markdown(summary, pictures)
    page = render_page(title, markdown, drawings, specs, vl_convert.javascript_bundle(EXPOSED))
    return bodies | {PAGE: page.encode()}, pictures
