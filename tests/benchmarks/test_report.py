"""The reports as a reader and as a program finds them: Markdown, CSV, JSON, and charts in one page."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest
from markdown_it import MarkdownIt

import batchwork
from batchwork.benchmarks.config import TASK_NAMES, ConfigurationError
from batchwork.benchmarks.report import LIMITS, Summary, Verdict, console_lines, save_run, summarise, write_reports
from batchwork.benchmarks.report.charts import draw
from batchwork.benchmarks.report.guide import GUIDE
from batchwork.benchmarks.report.markdown import render_markdown
from batchwork.benchmarks.report.tables import COLUMNS, render_csv, render_json
from batchwork.benchmarks.report.writing import ITEMS, items_page
from batchwork.benchmarks.trial import Call, RunInfo, State
from tests.support.made_calls import call, pair, run_info, table

NASTY = "a|b\n<script>alert(1)</script> `c` *d* _e_ [f](http://g) \\ ☃ \u202e \x00 | --- |"


def all_tasks() -> list[Call]:
    return [made for task in TASK_NAMES for made in table(task, 6, 8, 1, 5)]


def markdown_of(info: RunInfo, calls: list[Call]) -> str:
    return render_markdown(summarise(info, calls))


def section(text: str, name: str) -> str:
    return text.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0]


# -- Markdown -------------------------------------------------------------------------------------


def test_the_report_says_who_was_right_more_often() -> None:
    text = markdown_of(run_info(trials=20), all_tasks())
    assert "Over all tasks, **frame was right more often than raw** (+35.0 points" in text


def test_a_run_that_cannot_tell_says_so_and_never_that_there_is_no_difference() -> None:
    text = markdown_of(run_info(), [made for task in TASK_NAMES for made in table(task, 1, 1, 0, 0)])
    assert "**the run cannot tell** frame from raw" in text
    assert "no difference, however large, could have been seen" not in text  # 12 pairs see a large one
    assert "no significant difference" not in text.lower()


def test_why_a_row_whose_interval_leaves_zero_out_may_still_be_undecided_stands_beside_it() -> None:
    others = [made for task in TASK_NAMES if task != "trend" for made in table(task, 8, 0, 0, 0)]
    calls = table("trend", 2, 6, 0, 0) + others
    text = section(markdown_of(run_info(trials=8), calls), "Differences")
    row = next(line for line in text.splitlines() if line.startswith("| trend |"))
    assert "| +75.0 | +5.8 to +96.8 | +20.0 to +100.0 | 0.031 | 0.19 | cannot tell |" in row
    assert "Intervals and p are of each row alone; the verdict is by the adjusted p" in text


def test_a_run_with_too_few_pairs_says_that_it_could_have_seen_nothing() -> None:
    text = markdown_of(run_info(tasks=("trend",), trials=1), pair("trend", 0, 1.0, 0.0))
    assert "no difference, however large, could have been seen with so few pairs" in text


def test_an_early_end_says_which_tasks_the_numbers_are_of_and_claims_nothing_of_all() -> None:
    two = table("statistical", 5, 20, 0, 5) + table("trend", 5, 20, 0, 5)
    info = run_info(trials=30, aborted="interrupted")
    told = (
        "Over all tasks, **the run cannot tell** frame from raw: there is no pair in anomaly, comparative, multi_step"
        " and scaling. Over statistical and trend alone: +66.7 points"
    )
    text = markdown_of(info, two)
    assert told in text
    assert text.count("all tasks") == text.count("Over all tasks, **the run cannot tell**") + GUIDE.count("all tasks")
    assert told.replace("**", "") in "\n".join(console_lines(summarise(info, two)))


def test_every_task_stands_in_every_table_of_tasks() -> None:
    for calls in ([], pair("trend", 0, 1.0, 1.0), all_tasks()):
        text = markdown_of(run_info(trials=20), calls)
        for name in ("Accuracy", "Differences", "Input tokens per call", "Cost and latency", "Invented numbers"):
            assert all(f"\n| {task} |" in section(text, name) for task in TASK_NAMES), name


def test_a_run_of_one_task_speaks_of_it_and_names_the_others() -> None:
    text = markdown_of(run_info(tasks=("trend",), trials=20), table("trend", 6, 8, 1, 5))
    assert "Not part of this run: statistical, anomaly, comparative, multi_step, scaling." in text
    assert "- In trend, **frame was right more often than raw**" in text
    assert "all tasks" not in text.partition("## How to read this")[0].lower()


@pytest.mark.parametrize(
    ("tokens", "counted"), [({}, "counted by characters / 4"), ({"input_tokens": 50}, "as the provider counted them")]
)
def test_what_was_saved_is_told_with_what_it_was_counted_in(tokens: dict[str, int], counted: str) -> None:
    raw = call("trend", 0, backend="api", prompt_chars=800, data_chars=400, **{n: 4 * c for n, c in tokens.items()})
    frame = call("trend", 0, "frame", backend="api", prompt_chars=200, data_chars=40, **tokens)
    summary = summarise(run_info(tasks=("trend",), trials=1), [raw, frame])
    told = f"frame saved 75.0% of the input tokens ({counted}), and 90.0% of the characters of the data part alone."
    assert f"- {told}" in section(render_markdown(summary), "In short")
    assert told in console_lines(summary)


READER = "literal reader, not a language model"


def test_a_notice_heads_the_report_with_what_it_shows_and_cannot_show() -> None:
    text = markdown_of(run_info(notice=READER), [])
    assert text.splitlines()[2:5] == [f"> **{READER}**", ">", f"> {' '.join(LIMITS)}"]


@pytest.mark.parametrize("tasks", [TASK_NAMES, ("trend",)])
def test_where_no_model_answered_nothing_reads_like_a_finding(tasks: tuple[str, ...], tmp_path: Path) -> None:
    calls = [made for task in tasks for made in table(task, 1, 30, 0, 2)]
    info = run_info(trials=33, tasks=tasks, notice=READER)
    summary = summarise(info, calls)
    assert {one.verdict for one in (*summary.comparisons, *summary.overall)} <= {Verdict.NO_MODEL, Verdict.NO_PAIRS}
    assert all(one.p is one.p_holm is one.interval is None for one in (*summary.comparisons, *summary.overall))
    write_reports(tmp_path, info, calls)
    texts = {path.name: path.read_text() for path in (*tmp_path.glob("*.md"), *tmp_path.glob("charts/*.svg"))}
    texts |= {"console": "\n".join(console_lines(summary)), "page": (tmp_path / "report.html").read_text()}
    texts["page"] = texts["page"].partition("<script>")[0]
    for name, text in texts.items():
        for word in ("more often", "better</", "**better**", "adjusted p", "significant", "cannot tell", " points,"):
            assert word not in text, (name, word)
        assert "charts/difference" not in text
    wanted = (
        f"the answers to {31 * len(tasks)} of {33 * len(tasks)} questions stand in frame, and to {len(tasks)} in raw"
    )
    assert wanted in texts["console"]
    assert wanted in texts["benchmark_report.md"]
    assert "Whether a model answers better is seen with --backend api, claude-code or local." in texts["console"]


def test_an_aborted_run_says_so_at_the_top_with_the_reason_and_how_much_was_done() -> None:
    told = "Aborting: 3 consecutive API errors. Total errors: 5."
    top = markdown_of(run_info(aborted=told), pair("trend", 0, 1.0, 1.0)).partition("## In short")[0]
    assert told in top
    assert "2 of 24 planned calls were answered (8.3%)" in top


def test_missing_calls_are_shown_apart_and_marked() -> None:
    calls = pair("trend", 0, None, 1.0, error="timed out") + pair("trend", 1, None, 1.0, state=State.SKIPPED)
    calls[-1] = call("trend", 1, "frame")
    text = markdown_of(run_info(tasks=("trend",)), calls)
    assert "| trend | raw **(!)** | 2 | 1 | 1 | 0 | 100.0% |" in section(text, "Missing calls")
    assert "timed out" in section(text, "Missing calls")
    assert "**100.0% of the calls of raw are missing**" in section(text, "In short")


def test_what_is_not_known_is_not_a_number() -> None:
    told = section(markdown_of(run_info(tasks=("trend",)), pair("trend", 0, 1.0, 1.0)), "Cost and latency")
    assert "| trend | raw | unknown | - |" in told
    some = [call("trend", 0, cost_usd=0.5), call("trend", 1)]
    assert "| trend | raw | $0.5000 and 1 unknown |" in markdown_of(run_info(tasks=("trend",)), some)


def test_every_number_is_explained() -> None:
    guide = section(markdown_of(run_info(), []), "How to read this")
    for name in ("pair", "Missing", "Unparsed", "Accuracy", "Difference", "Adjusted p", "Could see", "odds ratio"):
        assert name in guide
    assert "false alarm" in guide


def test_the_report_says_what_counts_as_right() -> None:
    calls = [
        *pair("trend", 0, 1.0, 1.0, question="slope", tolerance="within 5% | of the truth"),
        *pair("trend", 1, 1.0, 1.0, question="slope", tolerance="within 5% | of the truth"),
        *pair("anomaly", 0, 1.0, None, question="count", tolerance="the same whole number"),
        *pair("anomaly", 1, 1.0, 1.0, question="unstated"),
    ]
    told = section(markdown_of(run_info(), calls), "What counts as right")
    assert told.splitlines()[3:] == [
        "| anomaly | count | the same whole number |",
        "| trend | slope | within 5% \\| of the truth |",
    ]
    assert "What counts as right" not in markdown_of(run_info(), pair("trend", 0, 1.0, 1.0))


def test_the_report_says_how_often_invented_numbers_are_misjudged() -> None:
    rates = {"false_alarm_listed": 0.001, "false_alarm_unlisted": 0.5, "miss_50": 0.1, "miss_500": 0.3, "miss_5000": 1}
    told = section(markdown_of(run_info(settings={"invented_error": rates}), []), "Invented numbers")
    assert "of the true numbers that it knows how to compute, it takes 0.1% for invented, and 50.0% of those" in told
    assert "lets 10.0% pass when a series has 50 points, 30.0% at 500 and 100.0% at 5,000" in told
    old = section(markdown_of(run_info(settings={"invented_false_alarm_rate": 0.02}), []), "Invented numbers")
    assert "False-alarm rate of this measure: 2.00%" in old
    for nothing in ({}, {"invented_error": {"miss_50": "often"}}):
        assert "How often this measure errs was not given" in markdown_of(run_info(settings=nothing), [])


def test_foreign_text_stays_text() -> None:
    calls = [
        call("trend", 0, "raw", None, error=NASTY, question=NASTY, kind=NASTY, dataset=NASTY * 100),
        call("trend", 0, "frame", 0.0, state=State.UNPARSED, answer=NASTY, question=NASTY, kind=NASTY),
    ]
    text = markdown_of(run_info(notice=NASTY, aborted=NASTY, model=NASTY, settings={NASTY: NASTY}), calls)
    html = MarkdownIt("commonmark").enable("table").render(text)  # as liberal as a reader of Markdown may be
    assert "<script" not in html
    assert "href" not in html
    assert "<em>d</em>" not in html
    for shown in re.findall(r"<table>.*?</table>", html, re.DOTALL):
        widths = {len(re.findall(r"<t[hd]", row)) for row in re.findall(r"<tr>.*?</tr>", shown, re.DOTALL)}
        assert len(widths) == 1  # no cell was split and no row was broken
    assert "a|b &lt;script&gt;alert(1)&lt;/script&gt; `c` *d*" in html


def test_long_text_is_cut() -> None:
    calls = [call(question="q" * 5000, error="e" * 5000, score=None)]
    assert max(len(line) for line in markdown_of(run_info(), calls).splitlines()) < 700


# -- for programs ---------------------------------------------------------------------------------


def test_the_csv_has_one_row_per_task_and_condition() -> None:
    info = run_info(treatments=("frame", "my,mod|x:f\nunc"), trials=20)
    rows = list(csv.DictReader(StringIO(render_csv(summarise(info, all_tasks())))))
    assert tuple(rows[0]) == COLUMNS
    assert len(COLUMNS) == len(set(COLUMNS))
    conditions = (info.baseline, *info.treatments)
    assert [(row["task"], row["condition"]) for row in rows] == [(t, c) for t in TASK_NAMES for c in conditions]
    assert all(len(row) == len(COLUMNS) for row in rows)


def test_a_row_of_the_csv_has_the_numbers_and_nothing_where_there_is_none() -> None:
    summary = summarise(run_info(trials=20), all_tasks())
    raw, frame = list(csv.DictReader(StringIO(render_csv(summary))))[:2]
    assert (raw["right"], raw["answered"], raw["accuracy"]) == ("7", "20", "0.35")
    assert (raw["difference"], raw["verdict"], raw["cost_usd"]) == ("", "", "")
    assert (frame["difference"], frame["pairs"], frame["tokens_source"]) == ("0.35", "20", "characters / 4")
    assert float(frame["difference_interval_low"]) < 0.35 < float(frame["difference_interval_high"])
    assert float(raw["interval_low"]) < 0.35 < float(raw["interval_high"])


def test_every_row_of_the_csv_says_what_answered() -> None:
    info = run_info(notice="literal reader, not a language model", answered_by=("simulated-a", "simulated-b"))
    for row in csv.DictReader(StringIO(render_csv(summarise(info, [])))):
        assert (row["backend"], row["model"]) == ("mock", "mock:reader")
        assert row["answered_by"] == "simulated-a; simulated-b"
        assert row["notice"] == "literal reader, not a language model"


def test_the_json_is_the_summary() -> None:
    summary = summarise(run_info(trials=20), all_tasks())
    assert msgspec.json.decode(render_json(summary), type=Summary) == summary


# -- files and charts -----------------------------------------------------------------------------


def test_without_charts_no_chart_library_is_loaded(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(trials=20), all_tasks())
    program = (
        "import sys; from batchwork.benchmarks.report.__main__ import main;"
        f"assert main([{str(tmp_path)!r}, '--no-viz']) == 0;"
        "assert not {'altair', 'vl_convert', 'markdown_it'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, cwd=Path(__file__).parents[2])
    assert not (tmp_path / "charts").exists()
    assert not (tmp_path / "report.html").exists()


def test_only_the_formats_asked_for_are_written(tmp_path: Path) -> None:
    written = write_reports(tmp_path / "new", run_info(), [], ("csv",), charts=False)
    assert [path.name for path in written] == [path.name for path in (tmp_path / "new").iterdir()]
    assert [path.name for path in written] == ["benchmark_results.csv"]


def everything_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_reports_that_an_earlier_state_left_are_written_anew_and_its_charts_removed(tmp_path: Path) -> None:
    write_reports(tmp_path, run_info(trials=20, aborted="interrupted"), all_tasks()[:40])
    (tmp_path / "charts" / "mine.svg").write_text("of the user")
    written = write_reports(tmp_path, run_info(trials=20), all_tasks(), ("csv",), charts=False)
    reports = {"benchmark_results.json", "benchmark_results.csv", "benchmark_report.md"}
    assert {path.name for path in written} == reports
    assert everything_in(tmp_path) == {*reports, "charts/mine.svg"}
    assert "Aborted" not in (tmp_path / "benchmark_report.md").read_text()
    assert "](charts/" not in (tmp_path / "benchmark_report.md").read_text()
    assert b"interrupted" not in (tmp_path / "benchmark_results.json").read_bytes()


def test_a_report_links_the_calls_themselves_where_there_is_a_journal(tmp_path: Path) -> None:
    batchwork.run(["a", "b"], model="mock:echo", journal=tmp_path / "journal.db").close()
    assert items_page(tmp_path / "another.db") == {}
    write_reports(tmp_path, run_info(), all_tasks()[:2], ("markdown",), charts=False)
    assert "[items.html](items.html)" in (tmp_path / "benchmark_report.md").read_text()
    assert b"All 2 items" in (tmp_path / ITEMS).read_bytes()


def test_a_chart_that_has_lost_its_numbers_is_removed_and_an_empty_folder_with_it(tmp_path: Path) -> None:
    write_reports(tmp_path, run_info(trials=20), all_tasks(), ())
    assert "charts/difference.png" in everything_in(tmp_path)
    write_reports(tmp_path, run_info(trials=20), [call(latency_s=0.0)], ())
    assert not {"charts/difference.png", "charts/difference.svg"} & everything_in(tmp_path)
    write_reports(tmp_path, run_info(trials=20), [], (), charts=False)
    assert not list(tmp_path.iterdir())


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="unknown format 'pdf'; there are json, csv, markdown"):
        write_reports(tmp_path, run_info(), [], ("json", "pdf"), charts=False)
    assert not list(tmp_path.iterdir())


def test_charts_and_the_page_are_whole_and_need_no_network(tmp_path: Path) -> None:
    calls = [
        msgspec.structs.replace(made, cost_usd=0.01, question="</script><b>", latency_s=0.5) for made in all_tasks()
    ]
    info = run_info(trials=20, model="</script> a made run", treatments=("frame", "m" * 80 + ":f"))
    write_reports(tmp_path, info, calls)
    names = ["accuracy", "cost", "difference", "latency", "size", "tokens"]
    assert sorted(path.stem for path in (tmp_path / "charts").glob("*.png")) == names
    for name in names:
        assert (tmp_path / "charts" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        drawn = ET.parse(tmp_path / "charts" / f"{name}.svg").getroot()
        assert float(drawn.attrib["width"]) > 400
        assert f"](charts/{name}.svg)" in (tmp_path / "benchmark_report.md").read_text()
    page = (tmp_path / "report.html").read_text()
    assert page.count("<script>") == page.count("</script>") == 2
    assert not re.search(r"(src|href)=", page.partition("<script>")[0])
    assert all(f'id="chart-{name}"' in page for name in names)


def test_every_chart_says_what_answered() -> None:
    calls = [msgspec.structs.replace(made, cost_usd=0.01) for made in all_tasks()]
    info = run_info(trials=20, model="sonnet", answered_by=("simulated-sonnet",), notice="a\nnotice")
    charts = draw(summarise(info, calls))
    assert len(charts) == 5  # all but the differences, which nobody may read as a finding
    for spec in charts.values():
        assert spec["title"]["subtitle"][1:] == ["a notice", *LIMITS, "sonnet, answered by simulated-sonnet"]


def test_a_chart_without_numbers_is_not_drawn() -> None:
    assert list(draw(summarise(run_info(), [call(latency_s=0.0)]))) == ["accuracy", "latency", "size"]
    assert draw(summarise(run_info(), [])) == {}
