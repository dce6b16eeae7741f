"""Words of labels and field names -> concepts, so that `qty`, "Quantity" and "Menge" meet.

Pure and cached: the same labels come back in every document of a batch. The words are data, in `vocabulary.toml` and
`tongues.toml`; a word that is not there stands for its own root.
"""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from importlib.resources import files
from itertools import chain, pairwise

from batchwork.evidence.thresholds import AKIN

_SPECIAL = {
    "ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "’": "", "'": "",
    "©": " copyright ",
}  # fmt: skip
_SOMEBODY = ("er", "or", "ee", "ist", "ant", "ian")  # lender, lessor, trustee, chemist, tenant
_ENDINGS = ("s", "e", "y", "ed", "ion", "ment", "ing", "al")  # one of these ends every word that has a shorter root
_TAIL, _LONGEST_COMPOUND = 4, 60  # letters
ROOT = 4  # letters that two words have in common at least when the one stands for the other by its form
_NOTHING: dict[str, float] = {}
VOCABULARY, PATTERNS, _TONGUES = (
    tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    for name in ("vocabulary", "patterns", "tongues")
)
_FORMS = {name: re.compile(pattern) for name, pattern in PATTERNS["words"].items()}
FILLERS, GENERIC, NEGATIONS = (frozenset(VOCABULARY[name].split()) for name in ("fillers", "generic", "negations"))
_GROUPS: dict[str, set[int]] = defaultdict(set)  # of roles, by their words
for _rank, _group in enumerate(VOCABULARY["roles"]):
    for _word in _group.split():
        _GROUPS[_word].add(_rank)
ROLES = _GROUPS.keys()
_ALONE = {word: tuple(meant.split()) for word, meant in VOCABULARY["alone"].items()}
RELATED: dict[str, dict[str, float]] = {}
for _worth, _pairs in VOCABULARY["related"].items():
    for _one, _other in (pair.split() for pair in _pairs.split(";")):
        RELATED.setdefault(_one, {})[_other] = RELATED.setdefault(_other, {})[_one] = float(_worth)


def plain(text: str) -> str:
    """Words without case, accents, apostrophes and invisible characters."""
    if text.isascii():
        return text.lower().replace("'", "")
    text = unicodedata.normalize("NFKD", text.casefold())
    for letter, spelled in _SPECIAL.items():  # far quicker than a translation where there are none
        text = text.replace(letter, spelled)
    return _FORMS["invisible"].sub("", text)


fold = lru_cache(maxsize=50_000)(plain)  # for single words, which come back


def stem(word: str) -> str:
    """A crude root: what remains of an English word without its usual endings."""
    found = _FORMS["endings"].search(word, 3) if word.endswith(_ENDINGS) else None
    root = word[: found.start()] if found else word
    doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "sl"  # wrapping, shipped
    return root[:-1] if doubled else root


_SINGLE: dict[str, tuple[str, ...]] = {"#": ("number",)}  # words -> concepts
_PHRASES: dict[tuple[str, ...], list[tuple[list[str], tuple[str, ...]]]] = {}  # by two words, longest first


def words_of(text: str, form: str = "word") -> list[str]:
    """The words of a label or of a field's name, folded; the parts of a name in camelCase are words."""
    apart = _FORMS["hump"].sub(r" \g<0>", text) if _FORMS["hump"].search(text) else text
    return _FORMS[form].findall(plain(apart))


def _learn(table: Mapping[str, str]) -> None:
    """Take in a table: a meaning, in words that are concepts or have one, and the words and phrases that say it."""
    for meaning, entries in sorted(table.items(), key=lambda entry: " " in entry[0]):
        known = [
            _SINGLE.get(word, (word if word in VOCABULARY["synonyms"] else stem(word),)) for word in meaning.split()
        ]
        meant = tuple(dict.fromkeys(concept for concept in chain(*known) if concept not in FILLERS))
        words, *phrases = entries.split("|")
        for word in words.split():
            _SINGLE.setdefault(fold(word), meant)
        for phrase in map(words_of, phrases):
            alike = _PHRASES.setdefault(tuple(phrase[:2]), [])
            alike.append((phrase, meant))
            alike.sort(key=lambda entry: -len(entry[0]))


_learn(VOCABULARY["synonyms"])
for _word in (*_GROUPS, *RELATED, *GENERIC):
    _SINGLE.setdefault(_word, (_word,))  # a root must not take the word's place
_english = sorted(_SINGLE)
_learn(_TONGUES)
for _word in _english:  # last, so that no plural takes the place of a word that is listed itself
    _SINGLE.setdefault(stem(_word), _SINGLE[_word])


@lru_cache(maxsize=50_000)
def _concepts_of(word: str) -> tuple[str, ...]:
    if word in FILLERS:
        return ()
    return _SINGLE.get(word) or _SINGLE.get(root := stem(word)) or _compound(word) or (root,)


def _compound(word: str) -> tuple[str, ...]:
    """The concepts of a word made of known ones, as German and Dutch labels are: Artikel-nummer, Kunde-n-nummer."""
    for cut in range(_TAIL, min(len(word), _LONGEST_COMPOUND) - _TAIL + 1):
        behind = _SINGLE.get(word[cut:])
        if behind is not None:
            head = word[:cut]
            before = _SINGLE.get(head) or _SINGLE.get(head.rstrip("s")) or _compound(head)
            if before:
                return before + behind
    return ()


for _words in VOCABULARY["akin"].split(";"):
    _one, *_others = (_concepts_of(word)[0] for word in _words.split())
    for _other in _others:
        RELATED.setdefault(_one, {}).setdefault(_other, AKIN)
        RELATED.setdefault(_other, {}).setdefault(_one, AKIN)


@lru_cache(maxsize=50_000)
def concepts(text: str) -> tuple[str, ...]:
    """The concepts of a label or of a field's name, in order, without fillers."""
    words = words_of(text)
    if len(words) == 1 and words[0] in _ALONE:
        return _ALONE[words[0]]
    if _PHRASES.keys().isdisjoint(pairwise(words)):
        return tuple(chain.from_iterable(map(_concepts_of, words)))
    found, position = list[str](), 0
    while position < len(words):
        meant, length = _concepts_of(words[position]), 1
        for phrase, sense in _PHRASES.get(tuple(words[position : position + 2]), ()):
            if words[position : position + len(phrase)] == phrase:
                meant, length = sense, len(phrase)
                break
        found += meant
        position += length
    return tuple(found)


# Pairs that say something else than their words: what begins a phrase, and words that stand alone.
_TURNED = {*_PHRASES, *((word, "\n") for word in _ALONE)}
_TURNING = {word for word, _ in _TURNED}


def named_in(texts: Sequence[str], beginnings: Set[str]) -> Iterator[tuple[str, int]]:
    """The concepts with one of some beginnings, and the ranks of the texts that name them; all are read at once."""
    said = words_of("\n".join(texts), "word_or_end")
    known: dict[str, list[str]] = {}
    for word in set(said):
        for concept in _concepts_of(word):
            if concept[:ROOT] in beginnings:
                known.setdefault(word, []).append(concept)
    told = _TURNING.union(known, "\n")
    rank, hits, turned = 0, list[tuple[int, str]](), set[int]()
    for word, behind in pairwise((*said, "\n")):
        if word in told:
            if word == "\n":
                rank += 1
            elif (word, behind) in _TURNED:
                turned.add(rank)
            elif word in known:
                hits.append((rank, word))
    yield from ((one, rank) for rank, word in hits if rank not in turned for one in known[word])
    yield from ((one, rank) for rank in turned for one in concepts(texts[rank]) if one[:ROOT] in beginnings)


UNSPOKEN, _PARTIES = (
    frozenset(concept for word in VOCABULARY[name].split() for concept in concepts(word))
    for name in ("unspoken", "parties")
)


def is_party(word: str) -> bool:
    """Whether a word of a field's name is somebody, or what a paper is called: often said without a label."""
    return word.endswith(_SOMEBODY) or not _PARTIES.isdisjoint(concepts(word))


def is_known(concept: str) -> bool:
    """Whether this is a word of labels that we know, rather than any word."""
    return concept in _SINGLE


@lru_cache(maxsize=50_000)
def likeness(one: str, other: str) -> float:
    """How much one concept may stand for another, 0 to 1."""
    if one == other:
        return 1.0
    related = RELATED.get(one, _NOTHING).get(other)
    if related is not None:
        return related
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < ROOT or not longer.startswith(shorter):
        return 0.0
    if len(shorter) > ROOT or len(longer) <= ROOT + 2:
        return 0.9
    return 0.0 if shorter in _SINGLE and longer in _SINGLE else 0.6  # temp, dept, desc


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


def excludes(one: str, other: str) -> bool:
    """Whether the two are different roles of one group, so that a label with the one is not the other's."""
    return one != other and one in _GROUPS and other in _GROUPS and not _GROUPS[one].isdisjoint(_GROUPS[other])
