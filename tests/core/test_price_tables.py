import pytest

from batchwork.core.errors import ConfigError
from batchwork.core.price_tables import parse_price_table
from batchwork.core.reply import Usage

TABLE = """
["claude-fable-5-2"]
input = 10
output = 50
cache_read = 1
batch_input = 5
batch_output = 25

[["claude-fable-5-2".above]]
tokens = 200000
input = 20
output = 75
batch_input = 10
batch_output = 40

["groq:llama"]
input = 0.1
output = 0.2
"""


def test_a_stated_price_is_found_by_model_and_by_provider_and_model():
    table = parse_price_table(TABLE)
    assert table.find("claude-fable-5-2", provider="anthropic") is not None
    assert table.find("llama", provider="groq") is not None
    assert table.find("llama", provider="openai") is None
    assert table.find("other") is None


def test_a_stated_price_has_its_cliff_and_its_cache():
    price = parse_price_table(TABLE).find("claude-fable-5-2")
    assert price.cost(Usage(input_tokens=1000, output_tokens=100)) == 15_000_000
    assert price.cost(Usage(input_tokens=1000, output_tokens=100, cache_read_tokens=1000)) == 6_000_000
    assert price.cost(Usage(input_tokens=300_000)) == 6_000_000_000


def test_a_batch_has_its_own_price_where_one_is_stated_and_the_live_price_elsewhere():
    table = parse_price_table(TABLE)
    usage = Usage(input_tokens=1000, output_tokens=100)
    assert table.find("claude-fable-5-2", batch=True).cost(usage) == 7_500_000
    assert table.find("llama", provider="groq", batch=True) == table.find("llama", provider="groq")


LANES = """
[m]
input = 1
output = 2
batch_input = 0.5
batch_output = 1

[m.lanes]
fast = 2.5
flex = { input = 0.3, output = 0.6 }

[m.lanes.turbo]
input = 4
output = 8
above = [{ tokens = 100, input = 8, output = 16 }]
"""


def test_lanes_are_stated_as_a_factor_or_by_amounts_of_their_own_for_batches_too():
    for batch in (False, True):
        price = parse_price_table(LANES).find("m", batch=batch)
        usage = Usage(input_tokens=1000, output_tokens=1000)
        assert price.cost(usage) == (1_500_000 if batch else 3_000_000)
        assert price.cost(usage, "fast") == 7_500_000
        assert price.cost(usage, "flex") == 900_000
        assert price.cost(usage, "turbo") == 24_000_000
        assert price.cost(Usage(input_tokens=100, output_tokens=0), "turbo") == 400_000


def test_writing_into_the_cache_costs_more_than_the_input_unless_stated_otherwise():
    table = parse_price_table("[a]\ninput = 1\noutput = 1\n[b]\ninput = 1\noutput = 1\ncache_write = 1")
    short, hour = (
        Usage(input_tokens=1000, cache_write_tokens=1000),
        Usage(input_tokens=1000, cache_write_1h_tokens=1000),
    )
    assert [table.find("a").cost(usage) for usage in (short, hour)] == [1_250_000, 2_000_000]
    assert [table.find("b").cost(usage) for usage in (short, hour)] == [1_000_000, 2_000_000]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "not TOML"),
        ("a = 1", "expected a table"),
        ("[a]\ninput = 1", "output is missing"),
        ("[a]\ninput = 1\noutput = 1\ncolour = 2", "colour"),
        ("[a]\ninput = -1\noutput = 1", "at least 0"),
        ("[a]\ninput = 1\noutput = 1\nabove = 3", "list of tables"),
        ("[a]\ninput = 1\noutput = 1\n[[a.above]]\ninput = 1\noutput = 1", "tokens"),
        ("[a]\ninput = 1\noutput = 1\nbatch_input = 1", "batch_output is missing"),
        ("[a]\ninput = 1\noutput = 1\nlanes = 2", "table of factors"),
        ("[a]\ninput = 1\noutput = 1\n[a.lanes]\nfast = 0", "factor above 0"),
        ("[a]\ninput = 1\noutput = 1\n[a.lanes]\nfast = 'two'", "factor above 0"),
        ("[a]\ninput = 1\noutput = 1\n[a.lanes.fast]\ninput = 2", "lane 'fast': output is missing"),
        ("[a]\ninput = 1\noutput = 1\n[a.lanes.fast]\ninput = 2\noutput = 2\nbatch_input = 2", "batch_input"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_its_place(text, words):
    with pytest.raises(ConfigError, match=words):
        parse_price_table(text)
