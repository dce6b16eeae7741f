"""A passage is found whatever its white space, hyphenation, quotation marks and ligatures, and with no other letter."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.evidence.passages import Passages

_LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
_QUOTES = {'"': "“”„«»", "'": "‘’‚`"}
_WORD = st.text(st.sampled_from("abcdefilstuvwxyzABCÄÖüéß0123456789"), min_size=1, max_size=9)
_TEXT = st.lists(st.tuples(_WORD, st.sampled_from(["", ".", ",", ":", '"', "'", "%", ")"])), min_size=3, max_size=25)


def _mutated(text: str, dice: random.Random) -> str:
    """The same words as another program would have written or extracted them."""
    for letters, sign in _LIGATURES.items():
        if dice.random() < 0.5:
            text = text.replace(letters, sign)
    pieces = []
    for before, character in zip("\0" + text, text, strict=False):
        if character == " ":
            pieces.append(dice.choice([" ", "  ", "\n", "\t", " \n ", "\u00a0", "\r\n"]))
        elif character in _QUOTES:
            pieces.append(dice.choice(_QUOTES[character] + character))
        elif before.isalpha() and character.isalpha() and dice.random() < 0.1:
            pieces.append(dice.choice(["-\n", "\u00ad", "- ", "-\n   ", "‐\n"]) + character)
        else:
            pieces.append(character)
    return "".join(pieces)


@given(_TEXT, st.integers(0, 2**32), st.data())
def test_what_differs_in_spacing_hyphenation_quotes_and_ligatures_alone_is_found(
    words: list[tuple[str, str]], seed: int, data: st.DataObject
) -> None:
    dice = random.Random(seed)
    plain = [word + sign for word, sign in words]
    low = data.draw(st.integers(0, len(plain) - 1))
    high = data.draw(st.integers(low + 1, len(plain)))
    before, wanted, behind = (_mutated(" ".join(part), dice) for part in (plain[:low], plain[low:high], plain[high:]))
    found = Passages(f"{before} {wanted} {behind}").find(_mutated(" ".join(plain[low:high]), dice))
    assert (len(before) + 1, len(before) + 1 + len(wanted)) in found


@given(_TEXT, st.integers(0, 2**32))
def test_a_changed_letter_or_digit_is_not_found(words: list[tuple[str, str]], seed: int) -> None:
    dice = random.Random(seed)
    text = " ".join(word + sign for word, sign in words)
    places = [place for place, character in enumerate(text) if character.isalnum()]
    place = dice.choice(places)
    pool = "0123456789" if text[place].isdigit() else "abcdefilstuvwxyzABCÄÖüé"
    other = dice.choice([sign for sign in pool if sign != text[place]])
    assert not Passages(_mutated(text, dice)).find(text[:place] + other + text[place + 1 :])
    assert not Passages(_mutated(text, dice)).find(text[:place] + other + text[place:])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("concatenate", "cat"),
        ("1,250.00 EUR", "50.00"),
        ("the ﬁnal one", "inal one"),
        ("the staﬀ", "staf"),
        ("at the café", "cafe"),
        ("at the cafe\u0301", "cafe"),
        ("Total 100", "total 100"),
        ("from – to", "from - to"),
        ("anything", "  \n "),
        ("anything", ""),
    ],
)
def test_part_of_a_word_another_case_or_another_sign_is_not_found(text: str, words: str) -> None:
    assert Passages(text).find(words) == []


def test_a_span_covers_the_words_and_nothing_beside_them() -> None:
    text = "Die „Liefe-\nrung“  der\u00a0ﬁnalen Cafe\u0301-Ware kostet\n 1 250,00 EUR. Die Ware. 合計金額は百円です"
    passages = Passages(text)
    for words in ("Lieferung", '"Lieferung" der finalen', unicodedata.normalize("NFC", "Cafe\u0301-Ware"), "合計金額"):
        ((start, end),) = passages.find(words)
        assert Passages(words).find(text[start:end]) == [(0, len(words))]
        assert text[start:end] == text[start:end].strip()
    assert [text[start:end] for start, end in passages.find("Die")] == ["Die", "Die"]
    assert [text[start:end] for start, end in passages.find("1250,00")] == ["1 250,00"]
