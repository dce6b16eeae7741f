from urllib.parse import urlsplit

from batchwork.core.providers import RESOURCE, provider_at, providers, service_of
from batchwork.settings import Settings


def test_a_provider_is_known_by_its_host_on_its_wire_alone() -> None:
    assert provider_at("api.groq.com", "chat") == "groq"
    assert provider_at("api.groq.com", "anthropic") is None
    assert provider_at("my-own.openai.azure.com", "chat") == "azure"
    assert provider_at("127.0.0.1", "chat") is None
    assert provider_at("localhost", "chat") is None
    elsewhere = [row for row in providers().values() if not row.local and RESOURCE not in row.base_url]
    hosts = [(row.host, row.wire) for row in elsewhere]
    assert len(hosts) == len(set(hosts))


def test_every_address_is_one_and_every_key_has_a_variable_of_its_own() -> None:
    for row in providers().values():
        address = urlsplit(row.base_url)
        assert (address.scheme, address.hostname == "localhost") == (("http", True) if row.local else ("https", False))
        assert row.local or row.keys
    hosts = {(name, row.host) for row in providers().values() for name in row.keys}
    assert len(hosts) == len({name for name, _ in hosts})


def test_a_service_has_one_name_and_its_other_names_are_its_own() -> None:
    assert service_of("xai") == service_of("grok") == "x-ai"
    assert service_of("anthropic") is None
    words = [word for name, row in providers().items() for word in (name, *row.aliases)]
    assert len(words) == len(set(words))


def test_the_environment_is_read_for_the_key_of_every_provider_and_the_first_variable_counts() -> None:
    environment = {name: f"key of {name}" for row in providers().values() for name in row.keys}
    expected = {name: f"key of {row.keys[0]}" for name, row in providers().items() if row.keys}
    assert Settings.from_environment(environment).keys == expected
    assert Settings.from_environment({"ANTHROPIC_AUTH_TOKEN": "t"}).keys == {"anthropic": "t"}
