from datetime import date, datetime, time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.documents import text_document
from batchwork.evidence import find_evidence, verify_citations

_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**300, max_value=10**400),
    st.floats(),
    st.decimals(),
    st.dates(),
    st.datetimes(),
    st.times(),
    st.text(max_size=30),
    st.binary(max_size=5),
    st.sampled_from(["INV-1", "1,250.50", "2024-03-05", "yes", "not active", "(1,250)", "8%", "-", "\x00", "a" * 3000]),
)
_names = st.sampled_from(
    ["total", "tax_rate", "invoiceDate", "is_active", "", "ß", "items", "a.b", "due date", "x" * 300]
)
_values = st.recursive(
    _leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_names, inner, max_size=4), max_leaves=12
)
_pieces = st.sampled_from(
    [
        "Total: $1,250.50", "(1,250)", "Tax (8%)", "due 03/04/2024", "INV-1", "\n", "\n\n", "   ", "\t", "|", "yes", "not active",
        "[x] Active", "5 March\n2024", "(in thousands)", "----", "Item  Qty  Price", "Bolt  2  3.00", "1.250,50 €", "٣٤", "²", "½",
        "e\u0301", "\u200b", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "inter-", "twenty-five", ":", "9" * 80, "1" + ",000" * 30,
        "Zeile;a;b;c", "31/02/2024", "00/00/0000", "12:30", "v1.2.3", "$", "−", "%",
    ]
)  # fmt: skip
_texts = st.lists(_pieces | st.text(max_size=12), max_size=25).map(" ".join) | st.lists(_pieces, max_size=25).map(
    "\n".join
)


@settings(max_examples=250, deadline=None)
@given(_values, _texts)
def test_whatever_the_value_and_the_text_citations_quote_the_text(value: Any, text: str) -> None:
    for citations in find_evidence(value, text).values():
        for citation in citations:
            assert 0 <= citation.start < citation.end <= len(text)
            assert citation.text == text[citation.start : citation.end]
            assert 0.0 <= citation.confidence <= 1.0


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_names, _leaves), max_size=5), _texts)
def test_a_document_that_prints_the_values_never_breaks_the_search(pairs: list[tuple[str, Any]], text: str) -> None:
    printed = "\n".join(
        f"{name}: {value}" for name, value in pairs if isinstance(value, str | float | date | datetime | time)
    )
    found = find_evidence(dict(pairs), f"{printed}\n{text}")
    assert set(found) == {name for name, _ in pairs}


@settings(max_examples=150, deadline=None)
@given(
    _texts,
    st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["char_location", "page_location", "content_block_location"])},
            optional={
                "cited_text": st.one_of(st.none(), st.text(max_size=20), _pieces),
                "start_char_index": st.integers(-5, 200),
                "end_char_index": st.integers(-5, 200),
                "start_page_number": st.integers(-2, 5),
                "end_page_number": st.integers(-2, 5),
            },
        ),
        max_size=5,
    ),
)
def test_only_words_of_the_document_survive_the_check(text: str, claims: list[dict[str, Any]]) -> None:
    document = text_document(text, pages=(0, len(text) // 2))
    for citation in verify_citations(claims, document):
        assert citation.text == text[citation.start : citation.end]
        assert citation.text.strip()
