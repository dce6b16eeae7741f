"""Numbers with their nouns, and remedies in the words of each door."""

import string

import pytest

from batchwork.core.words import (
    ATTACHED,
    IN_MEMORY,
    PYTHON,
    Door,
    command_line,
    counted,
    manager_door,
    sentence,
)

DOORS = [PYTHON, IN_MEMORY, ATTACHED, manager_door(None), command_line("out.journal.db")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (counted(1, "row"), "1 row"),
        (counted(0, "row"), "0 rows"),
        (counted(2000, "row"), "2,000 rows"),
        (counted(1, "retry", "retries"), "1 retry"),
        (counted(2, "batch", "batches"), "2 batches"),
    ],
)
def test_one_thing_is_in_the_singular(text: str, expected: str) -> None:
    assert text == expected


def test_an_option_is_named_as_the_door_names_it() -> None:
    assert command_line("j").words("raise {max_wait}") == "raise --max-wait"
    assert PYTHON.words("raise {max_wait}") == "raise max_wait="


def test_a_journal_with_a_space_in_its_name_can_be_copied_from_the_remedy() -> None:
    assert command_line("my run.db").retry == "`batchwork retry 'my run.db'`"


@pytest.mark.parametrize("door", DOORS)
def test_no_door_but_the_command_line_speaks_of_commands_or_dashes(door: Door) -> None:
    said = door.words("{again} {kept} {corrected} {retry} {more_money} {max_cost}")
    assert ("--" in said or "command" in said) == door.is_command
    assert not [name for _, name, _, _ in string.Formatter().parse(said) if name]


def test_what_ends_like_a_sentence_gets_no_second_full_stop() -> None:
    assert [sentence(text) for text in ("is it there?", "it is not.", "gone")] == [
        "is it there?",
        "it is not.",
        "gone.",
    ]
