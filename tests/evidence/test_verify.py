from batchwork.documents import read_document, text_document
from batchwork.evidence import verify_citations
from examples.pdf_writer import Page, pdf_bytes

TEXT = "The sky is blue. The total is $5.\nThe sky is blue. 😀 Ends here."


def char(text: str, start: int, end: int, index: int = 0) -> dict[str, object]:
    return {
        "type": "char_location",
        "cited_text": text,
        "start_char_index": start,
        "end_char_index": end,
        "document_index": index,
    }


def test_a_true_citation_stays_where_it_is_without_its_blanks() -> None:
    (kept,) = verify_citations([char("The total is $5.\n", 17, 34)], text_document(TEXT))
    assert (kept.start, kept.text, kept.confidence) == (17, "The total is $5.", 1.0)


def test_a_citation_off_its_place_is_moved_to_the_nearest_place() -> None:
    second = TEXT.rindex("The sky")
    (kept,) = verify_citations([char("The sky is blue.", second + 9, second + 25)], text_document(TEXT))
    assert kept.start == second
    assert kept.confidence < 1.0


def test_offsets_counted_in_other_units_do_no_harm() -> None:
    (kept,) = verify_citations([char("Ends here.", TEXT.index("Ends") + 1, len(TEXT) + 1)], text_document(TEXT))
    assert kept.text == "Ends here."


def test_words_that_are_not_in_the_document_are_dropped() -> None:
    assert (
        verify_citations(
            [char("The total is $6.", 17, 33), char("", 0, 0), {"type": "char_location"}], text_document(TEXT)
        )
        == []
    )


def test_other_documents_citations_are_left_out() -> None:
    claims = [char("The total is $5.", 17, 33, index=1)]
    assert verify_citations(claims, text_document(TEXT), document_index=0) == []
    assert len(verify_citations(claims, text_document(TEXT), document_index=1)) == 1


def test_a_page_citation_gets_characters_on_its_page() -> None:
    pages = []
    for number in (1, 2):
        page = Page()
        page.text(50, 50, "The price is fixed for")
        page.text(50, 64, "twelve months.")
        page.text(50, 90, f"This was page {number}.")
        pages.append(page)
    document = read_document(pdf_bytes(pages))
    claim = {
        "type": "page_location",
        "cited_text": "The price is fixed for twelve months. ",
        "start_page_number": 2,
        "end_page_number": 3,
    }
    (kept,) = verify_citations([claim], document)
    assert kept.page == 2
    assert kept.text == "The price is fixed for\ntwelve months"
    assert kept.start >= document.pages[1]
