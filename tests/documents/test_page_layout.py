"""The text of a page, as it stands on the page."""

from batchwork.documents import read_document
from examples.invoices import make_invoices
from examples.pdf_writer import Page, pdf_bytes


def test_a_word_broken_at_a_line_end_is_whole_and_an_id_keeps_its_hyphen() -> None:
    page = Page()
    for y, line in (
        (50, "The inter-"),
        (64, "national market grew by INV-"),
        (78, "2024 and Anglo-"),
        (92, "American trade"),
    ):
        page.text(50, y, line)
    assert (
        read_document(pdf_bytes([page])).text
        == "The international\nmarket grew by INV-\n2024 and Anglo-\nAmerican trade"
    )


def test_columns_of_prose_are_read_one_after_the_other() -> None:
    page = Page()
    page.text(
        50, 40, "A heading that runs over the whole width of the page, from the left side to the right side of it"
    )
    for index in range(5):  # drawn line by line across both columns: the hard way
        page.text(50, 80 + 14 * index, f"left column line number {index} goes on")
        page.text(310, 80 + 14 * index, f"right column line number {index} goes on")
    lines = read_document(pdf_bytes([page])).text.split("\n")
    assert [line[:4] for line in lines if "column" in line] == ["left"] * 5 + ["righ"] * 5


def test_the_rows_of_a_table_stay_rows_even_when_drawn_column_by_column() -> None:
    page = Page()
    for index, name in enumerate(["Apples", "Pears", "Plums", "Figs"]):
        page.text(50, 60 + 16 * index, name)
    for index in range(4):
        page.text(300, 60 + 16 * index, f"{index + 1}.50", right=True)
    lines = read_document(pdf_bytes([page])).text.split("\n")
    assert [line.split() for line in lines] == [
        ["Apples", "1.50"],
        ["Pears", "2.50"],
        ["Plums", "3.50"],
        ["Figs", "4.50"],
    ]


def test_bold_by_drawing_twice_is_read_once() -> None:
    page = Page()
    for shift in (0, 0.4):
        page.text(50 + shift, 60, "Total amount")
    assert read_document(pdf_bytes([page])).text == "Total amount"


def test_a_heading_stands_above_its_figures() -> None:
    text = read_document(make_invoices(1)[0].data).text
    head, *rows = text[text.index("Item ") :].split("\n")[:4]
    end = head.index("Price") + len("Price")
    assert all(abs(row.index("$") - end) < 10 for row in rows)


def test_the_hundred_invoices_say_their_truth_in_order() -> None:
    for invoice in make_invoices(100)[::7]:
        document = read_document(invoice.data, name=invoice.name)
        text = " ".join(document.text.split()).lower()
        assert invoice.truth["invoice_number"].lower() in text
        assert invoice.truth["company_name"].lower() in text
        assert all(item["description"].lower() in text for item in invoice.truth["items"])
