"""Words of labels and field names -> concepts, so that `qty`, "Quantity" and "Menge" meet.

Pure and cached: the same labels come back in every document of a batch. The words are data, in `vocabulary.toml` and
`tongues.toml`; a word that is not there stands for its own root.
"""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

from batchwork.evidence.thresholds import NAMING

_WORD = re.compile(r"[^\W\d_]{1,2}\d{1,2}(?![^\W_])|[^\W\d_](?:[^\W\d_]|[\u0300-\u036f'’])*|\d+|#")
_ASCII_WORD = re.compile(r"[a-z]{1,2}\d{1,2}(?![a-z0-9])|[a-z][a-z']*|\d+|#")  # the same of a text in ASCII, quicker
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_KEY = re.compile(r"(?<![^\W_])[a-z]+(?:[A-Z][a-z0-9]+)+(?![^\W_])")  # rowsRead, backoffSeconds
_ELIDED = re.compile(r"\b(?:[cdjlmnst]|qu|dell|nell|sull|dall|all)['’](?=[^\W\d_]{3})", re.IGNORECASE)  # d'achat
_HUMP = re.compile(r"[A-Z](?<=[a-z].)")
_TOKEN = re.compile(r"[^\W_]+")
_SPECIAL = str.maketrans(
    {"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "’": "", "'": ""}
)
_INVISIBLE = re.compile("[\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff]")
_SUFFIXES = ("ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ally", "als", "al", "ate", "able")
_ENDINGS = ("ies", "ied", "ed", "es", "s", "e", "y")
_SOMEBODY = ("er", "or", "ee", "ist", "ant", "ian")  # lender, lessor, trustee, chemist, tenant
_SHORT_TAILS = frozenset({"nr", "ort"})
_NO_TAILS = frozenset({"late", "ends", "ending", "ship"})  # template, weekends, ownership are no compounds
_LONGEST_COMPOUND = 60  # letters
ROOT = 4  # letters that two words have in common at least when the one stands for the other by its form
_NOTHING: dict[str, float] = {}
_SMALL = frozenset({"&", "de", "van", "von", "of", "-", "–", "and", "the", "for", "und", "et", "·", "|"})


def read_table(name: str) -> dict[str, Any]:
    """A data file that stands beside this module."""
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


VOCABULARY = read_table("vocabulary.toml")
PATTERNS = read_table("patterns.toml")
_TONGUES: dict[str, str] = read_table("tongues.toml")
_SYNONYMS: dict[str, str] = VOCABULARY["synonyms"]
FILLERS = frozenset(VOCABULARY["fillers"].split())
GENERIC = frozenset(VOCABULARY["generic"].split())  # words that say little about which value is meant
NEGATIONS = frozenset(VOCABULARY["negations"].split())
UNITS = frozenset(VOCABULARY["units"].split())
_PARTY_WORDS = frozenset(VOCABULARY["parties"].split())
_ROLES = tuple(frozenset(group.split()) for group in VOCABULARY["roles"])
_NO_GROUP: frozenset[int] = frozenset()
_GROUPS = {
    word: frozenset(rank for rank, group in enumerate(_ROLES) if word in group) for group in _ROLES for word in group
}
_ALONE = {word: tuple(meant.split()) for word, meant in VOCABULARY["alone"].items()}
RELATED: dict[str, dict[str, float]] = {}
for _worth, _pairs in VOCABULARY["related"].items():
    for _one, _other in (pair.split() for pair in _pairs.split(";")):
        RELATED.setdefault(_one, {})[_other] = RELATED.setdefault(_other, {})[_one] = float(_worth)


@lru_cache(maxsize=50_000)
def fold(word: str) -> str:
    """Without case, accents and invisible characters."""
    if word.isascii():
        return word.lower().replace("'", "")
    folded = unicodedata.normalize("NFKD", word.casefold()).translate(_SPECIAL)
    return _INVISIBLE.sub("", folded)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A crude root: what remains of an English word without its usual endings."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            word = word[: -len(suffix)]
            break
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= (3 if ending in ("s", "ies", "ied") else 4):
            if ending == "s" and word.endswith("ss"):
                continue
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1].isalpha() and word[-1] not in "sl":
        return word[:-1]  # wrapping, shipped
    return word


def _folded(text: str) -> list[str]:
    """The words of a text without elided articles, folded."""
    if "'" in text or "’" in text:
        text = _ELIDED.sub(" ", text)
    if text.isascii():
        words = _ASCII_WORD.findall(text.lower())
        return [word.replace("'", "") for word in words] if "'" in text else words
    return [fold(word) for word in _WORD.findall(text)]


def _meant(meaning: str) -> tuple[str, ...]:
    """The concepts of an entry: a word that has an entry of its own stands for that, any other for its root."""
    return tuple(
        concept
        for word in meaning.split()
        for concept in (_CONCEPT_OF.get(word, (word if word in _SYNONYMS else stem(word),)))
        if concept not in FILLERS
    )


_CONCEPT_OF = {
    word: tuple(meaning.split())
    for meaning, entries in _SYNONYMS.items()
    if " " not in meaning
    for word in entries.partition("|")[0].split()
}


def _tables() -> tuple[dict[str, tuple[str, ...]], dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]]:
    """Words -> concepts; and phrases by their first word, longest first."""
    single: dict[str, tuple[str, ...]] = {}
    phrases: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for meaning, entries in _SYNONYMS.items():
        for word in entries.partition("|")[0].split():
            single.setdefault(fold(word), _meant(meaning))
    for group in (*_ROLES, RELATED, GENERIC):
        for word in group:
            single.setdefault(word, (word,))  # a root must not take the word's place
    english = set(single)
    for meaning, entries in _TONGUES.items():
        for word in entries.partition("|")[0].split():
            single.setdefault(fold(word), _meant(meaning))
    for word in sorted(english):  # last, so that no plural takes the place of a word that is listed itself
        single.setdefault(stem(word), single[word])
    for meaning, entries in (*_SYNONYMS.items(), *_TONGUES.items()):
        for phrase in entries.split("|")[1:]:
            words = tuple(_folded(phrase))
            phrases.setdefault(words[0], []).append((words, _meant(meaning)))
    for known in phrases.values():
        known.sort(key=lambda entry: -len(entry[0]))
    return single, phrases


_SINGLE, _PHRASES = _tables()
_SINGLE["#"] = ("number",)


@lru_cache(maxsize=50_000)
def _concepts_of(word: str) -> tuple[str, ...]:
    if word in FILLERS:
        return ()
    known = _SINGLE.get(word)
    if known is not None:
        return known
    root = stem(word)
    return _SINGLE.get(root) or _compound(word) or (root,)


def _compound(word: str) -> tuple[str, ...]:
    """The concepts of a word made of known ones, as German and Dutch labels are: Artikel-nummer, Kunde-n-nummer."""
    if len(word) > _LONGEST_COMPOUND:
        return ()
    for cut in range(4, len(word) - 1):
        tail = word[cut:]
        behind = _SINGLE.get(tail)
        if behind is None or tail in _NO_TAILS or (len(tail) < 4 and tail not in _SHORT_TAILS):
            continue
        head = word[:cut]
        before = _SINGLE.get(head) or _SINGLE.get(head.rstrip("s")) or _compound(head)
        if before:
            return before + behind
    return ()


def _parted(token: re.Match[str]) -> str:
    """The parts of a name in camelCase; a word that is known with its odd capitals (MwSt) stays whole."""
    return token[0] if fold(token[0]) in _SINGLE else _CAMEL.sub(" ", token[0])


def words_of(text: str) -> list[str]:
    """The words of a label or of a field's name, folded."""
    if " " in text or any(map(str.isspace, text)):
        text = _KEY.sub(_parted, text) if _HUMP.search(text) else text
    elif fold(text) not in _SINGLE:
        text = _TOKEN.sub(_parted, text)  # a field's name
    return _folded(text)


@lru_cache(maxsize=50_000)
def concepts(text: str) -> tuple[str, ...]:
    """The concepts of a label or of a field's name, in order, without fillers."""
    words = words_of(text)
    if len(words) == 1 and words[0] in _ALONE:
        return _ALONE[words[0]]
    found: list[str] = []
    until = 0  # where a phrase ends
    for position, word in enumerate(words):
        if position < until:
            continue
        if word in _PHRASES:
            for said, meant in _PHRASES[word]:
                if tuple(words[position : position + len(said)]) == said:
                    found += meant
                    until = position + len(said)
                    break
            else:
                found += _concepts_of(word)
        else:
            found += _concepts_of(word)
    return tuple(found)


PERIODS = frozenset(concepts("seconds minutes hours days nights weeks months quarters years"))
UNSPOKEN = frozenset(concept for word in VOCABULARY["unspoken"].split() for concept in concepts(word)) - GENERIC
_PARTIES = frozenset(concept for word in _PARTY_WORDS for concept in concepts(word))


def is_party(word: str) -> bool:
    """Whether a word of a field's name is somebody, or what a paper is called: often said without a label."""
    return word.endswith(_SOMEBODY) or not _PARTIES.isdisjoint(concepts(word))


@lru_cache(maxsize=20_000)
def looks_like_name(text: str) -> bool:
    """Whether these words are a name rather than a label: several, all with a capital, none of them a label's."""
    parts = text.split()
    if len(parts) < 2 or text.isupper() or text.endswith(":"):
        return False
    if not all(part[:1].isupper() or part in _SMALL for part in parts):
        return False
    return fold(parts[-1].rstrip(".")) in _PARTY_WORDS or not any(map(is_known, concepts(text)))


def is_known(concept: str) -> bool:
    """Whether this is a word of labels that we know, rather than any word."""
    return concept in _SINGLE


@lru_cache(maxsize=50_000)
def likeness(one: str, other: str) -> float:
    """How much one concept may stand for another, 0 to 1."""
    if one == other:
        return 1.0
    related = RELATED.get(one)
    if related is not None and other in related:
        return related[other]
    if one[:ROOT] != other[:ROOT]:
        return 0.0
    shorter, longer = sorted((one, other), key=len)
    if longer.startswith(shorter) and (len(shorter) >= 5 or (len(shorter) == 4 and len(longer) <= 6)):
        return 0.9
    if len(shorter) == 4 and longer.startswith(shorter) and not (shorter in _SINGLE and longer in _SINGLE):
        return 0.6  # temp, dept, desc
    return 0.0


@lru_cache(maxsize=20_000)
def reach(words: tuple[str, ...]) -> frozenset[str]:
    """The beginnings of all concepts that may stand for one of these."""
    return frozenset(other[:ROOT] for word in words for other in (word, *RELATED.get(word, ())))


def nearest(word: str, others: Iterable[str]) -> float:
    """How much any of some concepts may stand for one."""
    best, root, related = 0.0, word[:ROOT], RELATED.get(word, _NOTHING)
    for other in others:
        if other == word:
            return 1.0
        if other[:ROOT] == root or other in related:
            best = max(best, likeness(word, other))
    return best


class ConceptIndex:
    """Which parts of a text, by their rank, name a concept."""

    def __init__(self, parts: Iterable[Iterable[str]]) -> None:
        self._alike: dict[str, list[str]] = {}
        self._found: dict[str, list[int]] = {}
        ranks = defaultdict(list)
        for rank, words in enumerate(parts):
            for word in set(words):
                ranks[word].append(rank)
        self._ranks = dict(ranks)
        for word in self._ranks:
            self._alike.setdefault(word[:ROOT], []).append(word)

    def naming(self, concept: str) -> list[int]:
        """The parts that name a concept, or one that is as good as it, in order."""
        if concept not in self._found:
            alike = (other for other in self._alike.get(concept[:ROOT], ()) if likeness(concept, other) >= NAMING)
            self._found[concept] = sorted({rank for word in alike for rank in self._ranks[word]})
        return self._found[concept]


def excludes(one: str, other: str) -> bool:
    """Whether the two are different roles of one group, so that a label with the one is not the other's."""
    return one != other and not _GROUPS.get(one, _NO_GROUP).isdisjoint(_GROUPS.get(other, _NO_GROUP))
