"""Write the reports of a run into its folder, each file whole or not at all.

No file there contradicts another: a report that an earlier state of the run left is written anew, also when it was not
asked for, and a chart that is not drawn again is removed. Nothing is touched but files by the names that stand here.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from batchwork.benchmarks.config import FORMATS, ConfigurationError
from batchwork.benchmarks.files import write_whole
from batchwork.benchmarks.folder import JOURNAL
from batchwork.benchmarks.report.figures import CHART_NAMES, Summary
from batchwork.benchmarks.report.markdown import render_markdown
from batchwork.benchmarks.report.summary import summarise
from batchwork.benchmarks.report.tables import render_csv, render_json
from batchwork.benchmarks.trial import Call, RunInfo

JSON, CSV, MARKDOWN, PAGE = "benchmark_results.json", "benchmark_results.csv", "benchmark_report.md", "report.html"
ITEMS = "items.html"  # every call of the run, or a sample of them
CHARTS = "charts"
_FILES = {"json": JSON, "csv": CSV, "markdown": MARKDOWN}
_DRAWN = (PAGE, ITEMS, *(f"{CHARTS}/{name}.{kind}" for name in CHART_NAMES for kind in ("svg", "png")))
_SHARPNESS = 2.0  # pixels of a PNG per point


def write_reports(
    folder: Path, info: RunInfo, calls: Sequence[Call], formats: Sequence[str] = FORMATS, charts: bool = True
) -> list[Path]:
    """Write the reports in these formats, and the charts with the page that holds them all; returns the files.

    Formats that are in the folder already are written as well; charts that are there and not wanted are removed.

    Raises ConfigurationError: an unknown format; OSError: the folder cannot be written.
    """
    unknown = set(formats) - set(FORMATS)
    if unknown:
        raise ConfigurationError(f"unknown format {unknown.pop()!r}; there are {', '.join(FORMATS)}")
    wanted = {name for name, file in _FILES.items() if name in formats or (folder / file).exists()}
    summary = summarise(info, calls)
    bodies: dict[str, bytes] = {}
    if "json" in wanted:
        bodies[JSON] = render_json(summary)
    if "csv" in wanted:
        bodies[CSV] = render_csv(summary).encode()
    pictures: dict[str, str] = {}
    if charts or "markdown" in wanted:
        bodies |= items_page(folder / JOURNAL)
    items = ITEMS if ITEMS in bodies else None
    if charts:
        drawn, pictures = _draw(summary, items=items)
        bodies |= drawn
    if "markdown" in wanted:
        bodies[MARKDOWN] = render_markdown(summary, pictures, items=items).encode()
    _remove(folder, [name for name in _DRAWN if name not in bodies])
    for name, body in bodies.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, body)
    return [folder / name for name in bodies]


def _remove(folder: Path, names: Sequence[str]) -> None:
    """Remove what would speak of an earlier state of the run."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
    charts = folder / CHARTS
    if charts.is_dir() and not any(charts.iterdir()):
        charts.rmdir()


def items_page(journal: Path) -> dict[str, bytes]:
    """The file with the calls themselves, where there is a journal and the viewer is installed."""
    if not journal.exists() or find_spec("jinja2") is None:
        return {}
    from batchwork.view.export import report_of  # noqa: PLC0415 - what it needs is an extra

    with TemporaryDirectory() as cache:
        return {ITEMS: report_of(journal, Path(cache), say=lambda _: None)[0]}


def _draw(summary: Summary, *, items: str | None) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files of the charts and the page, and where the picture of each chart is.

    The libraries are loaded here, so that a run without charts neither needs them nor waits for them.
    """
    import vl_convert  # noqa: PLC0415

    from batchwork.benchmarks.report.charts import draw  # noqa: PLC0415
    from batchwork.benchmarks.report.page import library, render_page  # noqa: PLC0415

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
    markdown = render_markdown(summary, pictures, items=items)
    page = render_page(title, markdown, drawings, specs, library())
    return bodies | {PAGE: page.encode()}, pictures
