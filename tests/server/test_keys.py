""""""

import stat
from pathlib import Path

import pytest

from batchwork.core.errors import ConfigError
from batchwork.server.keys import add_key, key_ring, new_key

KEY = "bw-a-key-for-these-tests"


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
