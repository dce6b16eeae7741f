"""Decide whether plain numbers are times: seconds, milli-, micro- or nanoseconds since 1970, or dates in digits.

Their size says which; that they are times at all is said by the column's name, or by steps that only a clock makes.
"""

import re
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_WORDS = "time times timestamp timestamps ts t date dates datetime day epoch unix utc at when zeit zeitpunkt datum tag"
_TIME_NAMES = frozenset((_WORDS + " month months monat period yyyymm yyyymmdd year years yr yyyy jahr jahre").split())
_AMOUNTS = frozenset({"to", "per", "total", "sum", "spent", "left"})  # revenue to date, total time
_YEAR_NAMES = frozenset({"year", "years", "yr", "yyyy", "jahr", "jahre"})
_SECONDS = (940_000_000, 4_200_000_000)  # 1999 to 2103
_LARGEST = _SECONDS[1] * 10**9
_NAMED_FIRST = 100_000_000  # 1973: a column that is named for its times may be old
SMALLEST = 1500  # of all numbers that are times: a year
_YEARS = (SMALLEST, 2200)
_FORMS = {6: "%Y%m", 8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_REGULAR = 0.9  # the share of equal steps that a clock makes
_MINUTE = 60_000_000


def is_time_name(name: str) -> bool:
    """Whether a column's name says that it holds times."""
    words = _words(name)
    return bool(words & _TIME_NAMES) and not words & _AMOUNTS


def _words(name: str) -> set[str]:
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.split(r"[^a-z]+", apart.lower()))


def times_of_digits(numbers: list[int | float], name: str) -> NDArray[np.datetime64] | None:
    """The times of plain numbers; None where they are something else, or nothing shows what they are."""
    if len(numbers) < 2 or not all(SMALLEST <= number <= _LARGEST for number in numbers):
        return None
    found = _dates(numbers, name) if all(number % 1 == 0 for number in numbers) else None
    return found if found is not None else _epochs(numbers, named=is_time_name(name))


def may_be_epochs(numbers: list[int | float]) -> str | None:
    """A word about numbers of the size that times since 1970 have, and that rise as they do."""
    if len(numbers) < 3 or not all(SMALLEST <= number <= _LARGEST for number in numbers):
        return None
    if _microseconds(numbers, named=False) is None or not _is_monotone(numbers):
        return None
    return "may be times since 1970: not read as such, for neither the name nor even steps say so"


def _is_monotone(numbers: list[int | float]) -> bool:
    return all(a < b for a, b in pairwise(numbers)) or all(a > b for a, b in pairwise(numbers))


def _dates(numbers: list[int | float], name: str) -> NDArray[np.datetime64] | None:
    """Dates written in digits: 2026 (in a column of years), 202601, 20260131, 202601311200, 20260131120000."""
    texts = [str(int(number)) for number in numbers]
    size = len(texts[0])
    if any(len(text) != size for text in texts):
        return None
    if size == 4:
        fits = all(_YEARS[0] <= number <= _YEARS[1] for number in numbers)
        if not (fits and _words(name) & _YEAR_NAMES and _is_monotone(numbers)):
            return None
        return np.array(texts, dtype="datetime64[Y]").astype("datetime64[us]")
    if size not in _FORMS or not all("1900" <= text[:4] <= "2100" for text in texts):
        return None
    if not is_time_name(name) and not _shows_a_calendar(numbers):
        return None
    try:
        read = [datetime.strptime(text, _FORMS[size]) for text in texts]  # noqa: DTZ007 - of no zone, as all here
    except ValueError:
        return None
    return np.array(read, dtype="datetime64[us]")


def _shows_a_calendar(numbers: list[int | float]) -> bool:
    """Whether the numbers go one way and jump as dates do, months at the end of a year."""
    steps = {abs(b - a) for a, b in pairwise(numbers)}
    if len(numbers) < 3 or not _is_monotone(numbers):
        return False
    return steps == {1, 89} if max(numbers) < 10**6 else len(steps) > 1


def _epochs(numbers: list[int | float], *, named: bool) -> NDArray[np.datetime64] | None:
    """Times since 1970, in the unit that their size tells; numbers that count by one may be those of orders, too."""
    moments = _microseconds(numbers, named=named)
    if moments is None or (not named and (abs(numbers[1] - numbers[0]) == 1 or not _is_even(moments))):
        return None
    return moments.astype("datetime64[us]")


def _is_even(moments: NDArray[np.int64]) -> bool:
    """Whether times go one way in steps of a clock: nearly all equal, or all of whole minutes."""
    steps = np.diff(moments)
    if steps.size < 2 or not ((steps > 0).all() or (steps < 0).all()):
        return False
    return bool(np.mean(steps == np.median(steps)) >= _REGULAR or (steps % _MINUTE == 0).all())


def _microseconds(numbers: list[int | float], *, named: bool) -> NDArray[np.int64] | None:
    """Microseconds since 1970 of numbers that all have the size of one unit."""
    first, last = (_NAMED_FIRST if named else _SECONDS[0]), _SECONDS[1]
    low, high = min(numbers), max(numbers)
    for power in (0, 3, 6, 9):
        if first * 10**power <= low and high <= last * 10**power:
            factor = 10 ** abs(6 - power)
            exact = [
                (int(number) // factor if power > 6 else round(number * factor)) if power != 6 else int(number)
                for number in numbers
            ]
            return np.array(exact, dtype=np.int64)
    return None
