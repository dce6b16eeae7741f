"""HTML as lines and rows."""

from batchwork.documents import read_document


def test_html_becomes_lines_and_rows_with_tabs() -> None:
    page = b"""<!doctype html><html><head><title>x</title><style>p{}</style></head><body><h1>Invoice&nbsp;7</h1>
    <p>Total:   <b>12&euro;</b></p><script>var a = '<p>no</p>'</script>
    <table><tr><th>Item<th colspan=2>Price</tr><tr><td>Nut</td><td>1</td><td>2<br>x</td></tr></table>
    <ul><li>one<li><input type=checkbox checked>two</ul></body></html>"""
    document = read_document(page)
    assert document.media_type == "text/html"
    assert document.text == "Invoice\xa07\n\nTotal: 12€\n\nItem\tPrice\nNut\t1\t2 x\n\n- one\n- [x] two"


def test_a_cell_over_several_rows_keeps_the_others_in_their_columns() -> None:
    page = b"""<html><table><tr><th rowspan=2>Part<th colspan=2>Quantity<th rowspan="2">Price</tr>
    <tr><th>Ordered<th>Open</tr><tr><td>Nut<td>4<td>1<td>2.50</tr></table><table><tr><td>a<td>b</tr></table></html>"""
    assert read_document(page).text == "Part\tQuantity\t\tPrice\n\tOrdered\tOpen\nNut\t4\t1\t2.50\n\na\tb"
