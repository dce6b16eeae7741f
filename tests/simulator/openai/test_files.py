"""Files are kept, listed, read, deleted, and expire."""

import openai
import pytest


def test_files_are_kept_listed_read_and_deleted(sim, gpt):
    client = gpt(sim)
    stored = client.files.create(file=("a.jsonl", b"x\n"), purpose="batch")
    assert (stored.bytes, stored.filename, stored.purpose) == (2, "a.jsonl", "batch")
    assert client.files.content(stored.id).read() == b"x\n"
    assert [one.id for one in client.files.list()] == [client.files.retrieve(stored.id).id]
    assert client.files.delete(stored.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(stored.id)


def test_an_input_file_expires_after_30_days(sim, gpt):
    client = gpt(sim)
    stored = client.files.create(file=("a.jsonl", b"x\n"), purpose="batch")
    sim.advance(30 * 24 * 3600)
    with pytest.raises(openai.NotFoundError):
        client.files.content(stored.id)


def test_a_file_above_the_limit_is_413(start, gpt):
    with pytest.raises(openai.APIStatusError) as caught:
        gpt(start(max_file_bytes=5)).files.create(file=("a.jsonl", b"x" * 9), purpose="batch")
    assert caught.value.status_code == 413
