"""Who may call."""

import stat
from pathlib import Path

import pytest

from batchwork.core.errors import ConfigError
from batchwork.server.config import ServerConfig, is_loopback
from batchwork.server.keys import KeyRing, add_key, key_ring, new_key
from tests.server.house import House, serving

KEY = "bw-a-key-for-these-tests"


def test_a_key_opens_the_door_in_either_header() -> None:
    with serving(keys=key_ring([KEY, "another-key-of-ours"])) as house:
        assert house.prompt(prompt="hi").code == "missing_api_key"
        assert house.post("/api/v1/prompt", {"prompt": "hi"}, {"X-API-Key": KEY + "x"}).code == "wrong_api_key"
        for headers in ({"X-API-Key": KEY}, {"Authorization": f"Bearer {KEY}"}, {"X-API-Key": "another-key-of-ours"}):
            assert house.post("/api/v1/prompt", {"prompt": "hi"}, headers).status == 200
        assert house.get("/metrics").status == house.get("/openapi.json").status == 401
        assert house.get("/metrics", **{"X-API-Key": KEY}).status == 200
        assert house.get("/health").status == house.get("/ready").status == 200


def test_every_stored_key_is_compared_whichever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []

    def counting(known: bytes, shown: bytes) -> bool:
        compared.append(known)
        return known == shown

    monkeypatch.setattr("batchwork.server.keys.compare_digest", counting)
    ring = key_ring([f"a-key-with-number-{i}" for i in range(5)])
    assert ring.number_of("a-key-with-number-0")
    assert not ring.number_of("something else")
    assert len(compared) == 10


def test_a_new_key_is_long_and_only_its_digest_is_kept(tmp_path: Path) -> None:
    file, key = tmp_path / "keys", new_key()
    add_key(file, key)
    assert len(key) > 40
    assert key not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert key_ring((), file).number_of(key)


def test_a_key_file_has_comments_plain_keys_and_digests(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# ours\n{KEY}  # the first\n\n")
    add_key(file, "the second key of ours")
    ring = key_ring(("from the environment",), file)
    assert len(ring) == 3
    assert all(map(ring.number_of, (KEY, "the second key of ours", "from the environment")))


@pytest.mark.parametrize("text", ["", "# nothing", "short", "sha256:abc", "sha256:" + "g" * 64])
def test_a_key_file_that_holds_no_key_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text)
    with pytest.raises(ConfigError):
        key_ring((), file)
    with pytest.raises(ConfigError, match="cannot read"):
        key_ring((), tmp_path / "none")


def test_keys_show_in_no_repr() -> None:
    config = ServerConfig(model="mock:echo", keys=key_ring([KEY]))
    assert KEY not in repr(config)
    assert repr(KeyRing()) == "<KeyRing of 0>"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org"])
def test_without_a_key_it_listens_on_loopback_only(host: str) -> None:
    with pytest.raises(ConfigError, match="loopback only"):
        ServerConfig(model="mock:echo", host=host)
    assert ServerConfig(model="mock:echo", host=host, keys=key_ring([KEY]))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]"])
def test_loopback_has_many_names(host: str) -> None:
    assert is_loopback(host)


def test_without_a_key_a_page_under_another_name_is_not_answered(echo: House) -> None:
    for name in ("evil.example", "evil.example:80", "127.0.0.1.evil.example"):
        assert echo.post("/api/v1/prompt", {"prompt": "hi"}, {"host": name}).code == "wrong_host"
    for name in ("localhost:8000", "127.0.0.1", "[::1]:8000"):
        assert echo.post("/api/v1/prompt", {"prompt": "hi"}, {"host": name}).status == 200
