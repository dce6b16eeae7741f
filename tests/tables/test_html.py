from batchwork.tables.html import results_html


def test_what_models_and_tables_say_is_escaped_and_cut() -> None:
    hostile = "<script>alert(1)</script>"
    html = results_html(
        "2 <b>", [{hostile: "<img src=x onerror=alert(1)>", "n": None}, {"n": "x" * 500}], ours=(), total=9
    )
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "x" * 120 + "..." in html
    assert "x" * 121 not in html
    assert html.endswith("<p>7 more rows</p></div>")


def test_of_many_columns_ours_are_shown_too() -> None:
    row = {f"c{n}": n for n in range(20)} | {"response": "yes", "status": "succeeded"}
    html = results_html("1", [row], ours=("response", "status"), total=1)
    assert "<th>c4</th><th>response</th><th>status</th></tr>" in html
    assert "<p>15 more columns</p>" in html
    assert results_html("nothing", [], ours=(), total=0) == "<div><p>nothing</p></div>"
