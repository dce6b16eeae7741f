"""The door to Ray: what is refused before anything is sent, and what Ray is told. A stand-in for Ray suffices here."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import batchwork.ray
from batchwork.core.errors import ConfigError

pytest.importorskip("psycopg")
pytest.importorskip("pyarrow")
JOURNAL = "postgresql://db.example/work?journal=rivers"


class FakeDataset:
    """Knows its columns, and what it was told to do with its rows."""

    def __init__(self, names: list[str] | None) -> None:
        self.names = names
        self.context = SimpleNamespace(execution_options=SimpleNamespace(preserve_order=False))

    def columns(self, *, fetch_if_missing: bool) -> list[str] | None:
        assert not fetch_if_missing
        return self.names

    def map_batches(self, actor: Any, **told: Any) -> FakeDataset:
        self.actor, self.told = actor, told
        return self


@pytest.fixture
def fake_ray(monkeypatch: pytest.MonkeyPatch) -> Any:
    ray: Any = ModuleType("ray")
    ray.data = ModuleType("ray.data")
    ray.data.Dataset, ray.data.ActorPoolStrategy = FakeDataset, SimpleNamespace
    ray.is_initialized = lambda: True
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.data", ray.data)
    return ray


def asked(names: list[str] | None = None, **options: Any) -> Any:
    dataset: Any = FakeDataset(["id", "text"] if names is None else names)
    given = {"prompt": "Say: {text}", "model": "mock:echo", "journal": JOURNAL, "key": "id", **options}
    return batchwork.ray.run(dataset, **given)


def test_ray_is_told_what_to_ask_and_no_secret(fake_ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHWORK_JOURNAL", "postgresql://me:secret-4711@db.example/work?journal=rivers")
    dataset = asked(workers=(2, 5), in_order=True, max_in_flight=30)
    assert dataset.actor is batchwork.ray.RowActor
    assert (dataset.told["compute"].min_size, dataset.told["compute"].max_size) == (2, 5)
    assert dataset.told["batch_size"] == 30
    assert dataset.context.execution_options.preserve_order
    assert dataset.told["fn_constructor_kwargs"]["options"]["journal"] == JOURNAL
    del dataset.told["compute"]
    assert b"secret-4711" not in pickle.dumps(dataset.told)


def test_columns_that_nobody_knows_yet_are_looked_at_later(fake_ray: Any) -> None:
    dataset: Any = FakeDataset(None)
    assert batchwork.ray.run(dataset, prompt="Say: {other}", model="mock:echo", journal=JOURNAL) is dataset


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"journal": "rivers.db"}, "rivers.db is a file, which one process writes"),
        ({"journal": Path("rivers.db")}, "postgresql://HOST/DB\\?journal=NAME"),
        (
            {"journal": "postgresql://me:pw-4711@db.example/work?journal=r"},
            "me@db.example.* has a password.*PGPASSWORD",
        ),
        ({"journal": "postgresql://db.example/work?journal=r&sslpassword=pw-4711"}, "has a password"),
        ({"key": "number"}, "key names the column 'number', which the dataset does not have. Columns there are: id"),
        ({"key": 3}, "key is the name of a column"),
        ({"prompt": "Say: {texts}"}, "asks for 'texts', which the dataset does not have. Did you mean 'text'"),
        ({"prompt": None}, "prompt= says what is asked about a row"),
        ({"workers": 0}, "workers is a number of actors, or \\(least, most\\), got 0"),
        ({"workers": (3, 1, 2)}, "workers is a number of actors"),
        ({"workers": (3, 1)}, "workers is a number of actors"),
        ({"api_key": "sk-4711"}, "does not take api_key: keys come from each node's own environment"),
        ({"base_url": "https://me:pw-4711@host/"}, "base_url has more than an address in it"),
        ({"template": "ask.j2"}, "does not take template: its file is on one machine"),
        ({"mode": "batch"}, "does not take mode: it is for a run in one process"),
        ({"promt": "x"}, "unknown option 'promt'; did you mean 'prompt'"),
        ({"model": "anthropic:unheard-of", "max_cost": 1}, "the price of 'anthropic:unheard-of' is not known"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_remedy(fake_ray: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        asked(**options)
    assert "4711" not in str(refused.value)


def test_only_a_ray_dataset_is_taken(fake_ray: Any) -> None:
    rows: Any = [{"text": "a"}]
    with pytest.raises(ConfigError, match=r"a Ray Dataset is needed, not a list: .* batchwork.run takes tables"):
        batchwork.ray.run(rows, prompt="{text}", model="mock:echo", journal=JOURNAL)


def test_no_ray_is_started_unasked(fake_ray: Any) -> None:
    fake_ray.is_initialized = lambda: False
    with pytest.raises(ConfigError, match=r"Ray is not initialised .* call ray.init"):
        asked()


def test_without_ray_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"batchwork.ray needs ray: pip install 'batchwork\[ray\]'"):
        asked()
