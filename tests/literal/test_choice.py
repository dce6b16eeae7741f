"""Of some choices the one that the text speaks for, and never one that it denies."""

from batchwork.literal import NOT_FOUND, read


def test_what_is_denied_is_not_chosen():
    assert read("Is the trend rising or falling?", "The trend is not rising.").text == NOT_FOUND
    assert read("Is the trend rising or falling?", "The trend is falling, not rising.").text == "falling"
