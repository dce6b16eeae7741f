"""Answers that are words: one of some options, or yes and no."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from batchwork.benchmarks.scoring.numerals import numerals, spelled
from batchwork.benchmarks.scoring.replies import WordedForm
from batchwork.benchmarks.scoring.wording import denies, understood, without, words
from batchwork.benchmarks.trial import Json

_ABOUT = words(
    """
    trend direction line slope positive negative strong strongly steady steadily slightly time over mean average median
    standard deviation range maximum minimum max min r r2 r\u00b2 anomaly anomalies outlier outliers them all around
    neighbours neighbors option one two vs
    """
)
_COMPARES = re.compile(
    r"\b(?:(more|higher|larger|greater|bigger|steeper|highest|largest|greatest|steepest)"
    r"|fewer|less|lower|smaller|fewest|lowest|smallest)\b",
    re.IGNORECASE,
)
_WITHIN = r"(?:[^.,;:!?\n]|[.,](?=\d))*"  # what may stand between two things of one clause
_OF = r"(?:that of |[Tt]he [a-z ]+ of |in )?(?:[Ss]eries )?"
_FIGURES = re.compile(r"\([^()]*\)|\bof\s+[-+]?\d[\d.,]*")  # where a number may stand beside an option: "(12.5)"
_NUMBER = re.compile(r"(?<!\w)[-+]?\d[\d.,]*")
_NOUN = re.compile(
    r"\s+(?!(?:has|is|was|than|or|and|because|since|with)\b)[a-z]"
)  # what makes a letter before it an article

_SAYS = {"yes": True, "true": True, "no": False, "false": False}
_SAID = re.compile(
    rf"\W*(?P<said>{'|'.join(_SAYS)})\b(?P<stop>\s*(?:[,.:;!-]|$))?(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_FOUND = words(
    """
    there anomaly anomalies outlier outliers any not all some several least do does contains detected identified present
    exist at position positions index indices located point points
    """
)
_THINGS = re.compile(r"\b(?:anomal(?:y|ies)|outliers?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice(WordedForm):
    """One of some options, word for word.

    Where two are compared, `asks` says whether the one that has more is asked for or the one that has less, so that
    "A has a higher mean than B" can be read.
    """

    options: tuple[str, ...]
    asks: Literal["more", "less"] | None = None
    rare = True
    tolerance = "exactly the true option"

    @property
    def kind(self) -> dict[str, Any]:
        """One of the options."""
        return {"type": "string", "enum": list(self.options)}

    @property
    def example(self) -> str:
        """What stands for the answer in the instruction."""
        return " | ".join(f'"{option}"' for option in self.options)

    def spoken(self, text: str) -> Json:
        """The only option that a text names; of two that are compared, the one that is asked for."""
        text = self._settled(text)
        found = [match for option in self.options for match in self._mentions(option, text)]
        rest = _FIGURES.sub(lambda part: _NUMBER.sub("", part.group()), without(text, (one.span() for one in found)))
        sure = self._sure(text)
        alone = len({match.group().lower() for match in found}) == 1
        return sure[0] if alone and sure and understood(rest, _ABOUT) else None

    def named(self, text: str) -> list[str]:
        """Every option that surely stands for itself, but for those that are only compared with."""
        return self._sure(self._settled(text))

    def _sure(self, text: str) -> list[str]:
        """The options of a text, a letter not as the article "A"."""
        return [
            option
            for option in self.options
            if any(len(option) > 1 or not _NOUN.match(text, match.end()) for match in self._mentions(option, text))
        ]

    def _mentions(self, option: str, text: str) -> list[re.Match[str]]:
        """Where an option stands; a letter only in capitals."""
        return list(re.finditer(rf"(?<!\w){re.escape(option)}(?!\w)", text, self._case))

    @property
    def _case(self) -> re.RegexFlag:
        return re.NOFLAG if len(self.options[0]) == 1 else re.IGNORECASE

    def _settled(self, text: str) -> str:
        """A text in which of two options the one that is preferred is left; nothing when a comparison cannot be read.

        Only letters are compared: "more rising" is not understood. A figure of one of them ("B has a mean of 11") is
        part of a comparison that was not made.
        """
        option = rf"(?<!\w)(?:{'|'.join(map(re.escape, self.options))})(?!\w)"
        text = re.sub(rf"({option}),? (?:not|rather than|instead of) {_OF}{option}", r"\1", text, flags=self._case)
        if self._case:
            return text
        same = [bool(more) == (self.asks != "less") for more in _COMPARES.findall(text)]
        if not same and _NUMBER.search(re.sub(r"\([^()]*\)", "", text)):
            return ""
        plain = _COMPARES.sub("", text)
        both = re.fullmatch(
            rf"(?P<lead>\W*{_OF})(?P<one>{option})(?P<between>(?:'s)? {_WITHIN} )than "
            rf"(?P<of>{_OF})(?P<other>{option}|the other(?: one| series)?)(?P<rest>(?: \([^()]*\))?\W*)",
            plain,
        )
        if self.asks is None or both is None or len(same) != 1:
            return plain if all(same) else ""
        winner = both["one"] if same[0] else both["other"]
        return f"{both['lead']}{winner}{both['between']}{both['of']}{both['rest']}"


@dataclass(frozen=True, slots=True)
class Flag(WordedForm):
    """Yes or no."""

    rare = True
    example = "true | false"
    tolerance = "the true one of yes and no"

    @property
    def kind(self) -> dict[str, Any]:
        """True or false."""
        return {"type": "boolean"}

    def plain(self, value: Json) -> Json:
        """True or false."""
        return value if isinstance(value, bool) else None

    def spoken(self, text: str) -> Json:
        """The yes or no that a text begins with and goes on in the sense of; that there are no anomalies is a no."""
        begun = _SAID.match(text)
        if begun is None or (begun["stop"] is None and begun["said"].lower() == "no"):
            return False if self._claims(text) is False and (_THINGS.search(text) or spelled(text)) else None
        says, rest = _SAYS[begun["said"].lower()], begun["rest"]
        if re.search(r"\w", rest) is None:
            return says if understood(rest, _FOUND) else None
        return says if self._claims(rest) is says else None

    def named(self, text: str) -> list[bool]:
        """That there are anomalies, when a text says that and no more."""
        return [True] if _THINGS.search(text) and self._claims(text) else []

    def _claims(self, text: str) -> bool | None:
        """Whether a text says that there are some, or that there are none; None when it is not understood."""
        found = [*numerals(text), *spelled(text)]
        if not understood(without(text, (one.span for one in found)), _FOUND):
            return None
        denied = denies(text) or any(one.value == 0 for one in found)
        return None if denied and any(one.value for one in found) else not denied
