from urllib.parse import urlsplit

from batchwork.core.providers import provider_at, providers
from batchwork.settings import Settings


def test_a_provider_is_known_by_its_host_on_its_wire_alone() -> None:
    assert provider_at("api.groq.com", "chat") == "groq"
    assert provider_at("api.groq.com", "anthropic") is None
    assert provider_at("127.0.0.1", "chat") is None
    hosts = [(row.host, row.wire) for row in providers().values()]
    assert len(hosts) == len(set(hosts))


def test_every_address_is_one_and_every_key_has_a_variable_of_its_own() -> None:
    assert all(urlsplit(row.base_url).scheme == "https" and row.host for row in providers().values())
    variables = [name for row in providers().values() for name in row.keys]
    assert len(variables) == len(set(variables))


def test_the_environment_is_read_for_the_key_of_every_provider_and_the_first_variable_counts() -> None:
    environment = {name: f"key of {name}" for row in providers().values() for name in row.keys}
    expected = {name: f"key of {row.keys[0]}" for name, row in providers().items()}
    assert Settings.from_environment(environment).keys == expected
    assert Settings.from_environment({"ANTHROPIC_AUTH_TOKEN": "t"}).keys == {"anthropic": "t"}
