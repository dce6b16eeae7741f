from pathlib import Path

import pytest

from batchwork.core.errors import ConfigError
from batchwork.settings import Settings


def write(folder: Path, text: str) -> Path:
    path = folder / ".env"
    path.write_text(text, encoding="utf-8")
    return path


def test_keys_and_addresses_come_from_the_environment():
    settings = Settings.from_environment({"ANTHROPIC_API_KEY": "a", "OPENAI_BASE_URL": "http://x", "GROQ_API_KEY": "g"})
    assert settings.keys == {"anthropic": "a", "groq": "g"}
    assert settings.addresses == {"openai": "http://x"}


def test_the_file_fills_what_the_environment_leaves_open(tmp_path: Path):
    dotenv = write(
        tmp_path,
        "# keys\n\nexport ANTHROPIC_API_KEY='from file'\nOPENAI_API_KEY=from-file # mine\nOPENAI_BASE_URL=\"http://y\"\n",
    )
    settings = Settings.from_environment({"ANTHROPIC_API_KEY": "from env", "OPENAI_API_KEY": ""}, dotenv=dotenv)
    assert settings.keys["anthropic"] == "from env"
    assert settings.keys["openai"] == "from-file"
    assert settings.addresses["openai"] == "http://y"


def test_without_a_file_there_is_nothing_to_fill(tmp_path: Path):
    assert Settings.from_environment({}, dotenv=tmp_path / ".env") == Settings()


def test_the_file_stands_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path, "OPENAI_API_KEY=here\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert Settings.from_environment().keys["openai"] == "here"


def test_a_line_that_cannot_be_read_is_named_and_not_shown(tmp_path: Path):
    with pytest.raises(ConfigError, match="line 2") as caught:
        Settings.from_environment({}, dotenv=write(tmp_path, "A=1\nsk-secret\n"))
    assert "sk-secret" not in str(caught.value)


def test_no_key_shows_in_a_repr():
    env = {
        "ANTHROPIC_API_KEY": "sk-1",
        "OPENAI_API_KEY": "sk-2",
        "XAI_API_KEY": "sk-3",
        "CLAUDE_CODE_OAUTH_TOKEN": "sk-4",
    }
    assert "sk-" not in repr(Settings.from_environment(env))


def test_a_program_sees_its_home_and_its_login_and_no_key():
    env = {"HOME": "/h", "PATH": "/bin", "ANTHROPIC_API_KEY": "sk", "SECRET": "x", "HTTPS_PROXY": "http://p"}
    assert Settings.from_environment(env).program_environment == {
        "HOME": "/h",
        "PATH": "/bin",
        "HTTPS_PROXY": "http://p",
    }


def test_a_switch_is_on_or_off():
    assert Settings.from_environment({"BATCHWORK_TRUST_ENV": "1"}).trust_env
    assert not Settings.from_environment({"BATCHWORK_TRUST_ENV": "0"}).trust_env
    with pytest.raises(ConfigError, match="BATCHWORK_TRUST_ENV"):
        Settings.from_environment({"BATCHWORK_TRUST_ENV": "maybe"})


def test_a_file_of_prices_is_read_where_one_is_named(tmp_path: Path):
    path = tmp_path / "prices.toml"
    path.write_text('["my-model"]\ninput = 1\noutput = 2\n')
    table = Settings.from_environment({"BATCHWORK_PRICES": str(path)}).price_table()
    assert table is not None
    assert table.find("my-model") is not None
    assert Settings().price_table() is None
    with pytest.raises(ConfigError, match="cannot be read"):
        Settings(prices=tmp_path / "nowhere.toml").price_table()
