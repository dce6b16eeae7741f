import pytest

from tests.support.fake_claude import Program


@pytest.fixture
def program(tmp_path):
    """A fake of the program: a script of our own that says that it is a fake."""
    return Program(tmp_path)
