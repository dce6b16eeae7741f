"""Decide when a run must pause: going on would only burn calls, money or time.

Pure. Three causes: so many items in a row that ended in an API failure, one failure of a
hopeless kind (a key that is wrong, a quota that does not end soon), a stall under refusals.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from batchwork.core.duration import rough_duration
from batchwork.core.failure import Failure
from batchwork.core.failure_table import Trait, is_refusal, traits_of
from batchwork.core.policy import Policy
from batchwork.core.words import Door, counted, sentence

Cause = Literal["failures", "credentials", "quota", "stalled", "batch", "accounts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Why the run pauses and what to do about it, for people and for programs."""

    reason: str  # in which somebody else's words may stand; of ours only {max_wait} is in braces
    remedy: str  # with names in braces, for which the door at hand has its own words
    cause: Cause
    retry_after_s: float | None = None  # when calls will be taken again, where the provider said so

    def at(self, door: Door) -> dict[str, Any]:
        """The same in the words of a door, as keywords of `RunPaused`."""
        return asdict(self) | {"reason": door.reason(self.reason), "remedy": door.words(self.remedy)}


_MAX_WAIT = "{max_wait}"
_AGAIN = "then {again}: {kept}."


def no_access(failure: Failure) -> Pause:
    """The key is not accepted: nothing will be, before somebody acts."""
    return Pause(
        reason=f"The provider does not accept the credentials ({failure.message}).",
        remedy="Set a valid API key, " + _AGAIN,
        cause="credentials",
    )


def no_accounts(message: str, waited_s: float) -> Pause:
    """The database of the shared accounts does not answer: nobody knows how much may be spent or sent."""
    return Pause(
        reason=sentence(f"The shared accounts cannot be reached for {rough_duration(waited_s)} ({message})"),
        remedy="Bring their database back (BATCHWORK_SHARED names it), " + _AGAIN,
        cause="accounts",
    )


def no_account(message: str) -> Pause:
    """A shared account is not there any more."""
    return Pause(reason=sentence(message), remedy="Set it again or name another {account}, " + _AGAIN, cause="accounts")


class Breaker:
    """Watches every attempt and every ending of one run."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._in_a_row = 0
        self._refused = 0
        self._refused_since = 0.0

    def answered(self) -> None:
        """The provider answered a call, whatever the answer."""
        self._in_a_row = 0
        self._refused = 0

    def failed(self, failure: Failure, now: float) -> Pause | None:
        """One attempt failed; a pause when there is no point in any other."""
        traits = traits_of(failure.kind)
        if Trait.HOPELESS in traits and Trait.LATER not in traits:
            return no_access(failure)
        if Trait.HOPELESS in traits and not self.is_worth_waiting(failure):
            end = failure.retry_after_s
            when = (
                "its end is not known" if end is None else f"it ends in {rough_duration(end)}, longer than {_MAX_WAIT}"
            )
            return Pause(
                reason=f"A quota is used up ({failure.message}); {when}.",
                remedy="Raise the quota or wait for its end (or raise {max_wait}), " + _AGAIN,
                cause="quota",
                retry_after_s=end,
            )
        return self._stalled(failure, now) if is_refusal(failure) else None

    def _stalled(self, failure: Failure, now: float) -> Pause | None:
        if failure.retry_after_s is not None and failure.retry_after_s > self._policy.max_wait_s:
            return Pause(
                reason=f"The provider wants no call for {rough_duration(failure.retry_after_s)},"
                f" longer than {_MAX_WAIT} ({failure.message}).",
                remedy="Wait that long (or raise {max_wait}), " + _AGAIN,
                cause="stalled",
                retry_after_s=failure.retry_after_s,
            )
        if not self._refused:
            self._refused_since = now  # not the last answer: a quota waited out or a long input is no stall
        self._refused += 1
        if self._refused < 3 or self.refused_for_s(now) < self._policy.stall_s:
            return None
        return self.stall(failure, now)

    def refused_for_s(self, now: float) -> float:
        """How long every call has been refused."""
        return now - self._refused_since if self._refused else 0.0

    def stall(self, failure: Failure, now: float) -> Pause:
        """Nobody is let through."""
        duration = rough_duration(self.refused_for_s(now))
        return Pause(
            reason=f"The provider has refused every call for {duration} ({failure.message}).",
            remedy="Wait until it recovers or lower {max_in_flight}, " + _AGAIN,
            cause="stalled",
        )

    def gave_up(self, failure: Failure) -> Pause | None:
        """One item ended in a failure; a pause when it is one too many in a row."""
        if Trait.COUNTED not in traits_of(failure.kind):
            self._in_a_row = 0
            return None
        self._in_a_row += 1
        if self._in_a_row < self._policy.max_consecutive_failures:
            return None
        return Pause(
            reason=sentence(f"{counted(self._in_a_row, 'item')} in a row ended in an API failure, the last: {failure}"),
            remedy="Mend the cause, {again} for the rest, and {retry} for the failed ones.",
            cause="failures",
        )

    def is_worth_waiting(self, failure: Failure) -> bool:
        """Whether a quota ends soon enough to be waited out."""
        return failure.retry_after_s is not None and failure.retry_after_s <= self._policy.max_wait_s
