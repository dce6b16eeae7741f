"""A cache that is bounded by weight."""

from batchwork.core.weighed import WeighedCache


def test_what_was_used_longest_ago_goes_when_it_gets_too_heavy() -> None:
    cache: WeighedCache[str, int] = WeighedCache(10)
    cache.put("a", 1, 4)
    cache.put("b", 2, 4)
    assert cache.get("a") == 1
    cache.put("c", 3, 4)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    assert (cache.weight, len(cache)) == (8, 2)


def test_what_is_too_heavy_alone_is_not_kept() -> None:
    cache: WeighedCache[str, int] = WeighedCache(10)
    cache.put("a", 1, 4)
    cache.put("whale", 2, 11)
    assert (cache.get("a"), cache.get("whale"), cache.weight) == (1, None, 4)


def test_a_key_is_kept_once() -> None:
    cache: WeighedCache[str, int] = WeighedCache(10)
    cache.put("a", 1, 4)
    cache.put("a", 2, 6)
    assert (cache.get("a"), cache.weight, cache.pop("a"), cache.pop("a"), cache.weight) == (2, 6, 2, None, 0)
