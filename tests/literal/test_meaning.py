"""Words mean the same label in whatever form they stand."""

import pytest

from batchwork.literal.meaning import GENERIC, STOP, WORDS, alternatives, label_words


@pytest.mark.parametrize("label", ["unitPrice", "Unit price:", "unit_price", "UNIT PRICES"])
def test_a_label_means_the_same_in_every_form(label):
    assert label_words(label) == ("unit", "price")


@pytest.mark.parametrize(
    ("label", "meaning"),
    [
        ("Std. dev.", ("stdev",)),
        ("average", ("mean",)),
        ("No. of items", ("count", "item")),
        ("95th percentile", ("p95",)),
        ("50th percentile", ("median",)),
        ("Series A", ("series", "A")),
        ("From", ("from",)),
    ],
)
def test_short_forms_and_synonyms_are_one_word(label, meaning):
    assert label_words(label) == meaning


def test_looser_readings_come_best_first():
    assert alternatives(("invoice", "number"))[0] == ("invoice",)
    assert ("trend",) in alternatives(("trend", "direction"))
    assert alternatives(("weight",)) == ()


def test_the_data_file_repeats_no_phrase_and_contradicts_no_stop_word():
    phrases = [phrase for listed in WORDS.same.values() for phrase in listed.split("|")]
    assert len(set(phrases)) == len(phrases)
    assert not STOP & GENERIC
    assert not set(WORDS.same) & STOP
