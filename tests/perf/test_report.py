"""The page of measurements: what it says is read again when one of them is renewed."""

from perf.report import Section, known, page


def test_what_is_not_measured_again_stays_in_the_page_with_its_date() -> None:
    engine = Section("a table\n\nengine: 2x (bar 1x) ok", "77 s", "2026-11-16")
    first = page({"engine": engine}, ["engine", "http"], "2 cores")
    assert "| engine | engine: 2x (bar 1x) ok | 77 s | 2026-11-16 |" in first
    assert "| http | not measured yet |  |  |" in first
    http = Section("http: 3 / 4 | 5 (bar 1) short", "5 s", "2026-11-17")
    second = page(known(first, "2 cores") | {"http": http}, ["http"], "2 cores")
    assert known(second, "2 cores") == {"engine": engine, "http": http}
    assert second.index("## engine") < second.index("## http")


def test_another_machine_begins_a_page_of_its_own() -> None:
    written = page({"engine": Section("engine: ok", "1 s", "2026-11-16")}, [], "2 cores")
    assert known(written, "4 cores") == {}
