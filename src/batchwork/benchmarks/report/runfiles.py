"""A run on disk, and back: `run.json` (what is known of the whole) and `trials.jsonl` (a line per call).

`run.json` is written last and says when the run ended: a folder with calls or a journal but without that belongs to a
run that was killed.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from batchwork.benchmarks.files import write_whole
from batchwork.benchmarks.trial import Call, RunInfo

RUN, TRIALS = "run.json", "trials.jsonl"


class RunFilesError(Exception):
    """A folder that no report can be made of; says why, and what to do."""


def save_run(folder: Path, info: RunInfo, calls: Sequence[Call]) -> RunInfo:
    """Write the run into its folder; whoever reads it finds the old files or the new ones, never half of one.

    Returns what `run.json` now says: `info` with the number of calls, by which a file that was cut is found out.

    Raises OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    encoder = msgspec.json.Encoder(enc_hook=str)
    saved = msgspec.structs.replace(info, calls=len(calls))
    write_whole(folder / TRIALS, encoder.encode_lines(calls))
    write_whole(folder / RUN, msgspec.json.format(encoder.encode(saved), indent=2) + b"\n")
    return saved


def load_run(folder: Path) -> tuple[RunInfo, list[Call]]:
    """The run in a folder.

    Raises RunFilesError: there is none, it was killed before it ended, a line is damaged (says which), or some are
    gone.
    """
    info = _load_info(folder)
    if not info.ended_at:
        raise _killed(folder)
    calls = _load_calls(folder / TRIALS)
    if len(calls) != info.calls:
        raise RunFilesError(
            f"{folder / TRIALS} has {len(calls):,} calls, and {RUN} says {info.calls:,}: it was cut or belongs to"
            " another run; run again with --resume to have it written anew"
        )
    conditions = {info.baseline, *info.treatments}
    for number, call in enumerate(calls, 1):
        if call.condition not in conditions:
            raise RunFilesError(
                f"{folder / TRIALS}, line {number}: a call of {call.condition!r}, which is no condition of this run"
                f" ({', '.join(sorted(conditions))}); the two files do not belong together"
            )
    return info, calls


def _load_info(folder: Path) -> RunInfo:
    if not folder.exists():
        raise RunFilesError(f"{folder} does not exist; name the folder that a run wrote")
    if not folder.is_dir():
        raise RunFilesError(f"{folder} is not a folder; name the folder that a run wrote, not a file in it")
    path = folder / RUN
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunInfo)
    except FileNotFoundError:
        pass
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RunFilesError(f"{path} is damaged ({error}); run again with --resume to have it written anew") from error
    names = {entry.name for entry in folder.iterdir()}
    if not names:
        raise RunFilesError(f"{folder} is empty; name the folder that a run wrote")
    if TRIALS in names or any(name.endswith(".db") for name in names):
        raise _killed(folder)
    raise RunFilesError(f"{folder} is not the folder of a run: it has no {RUN}")


def _load_calls(path: Path) -> list[Call]:
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        raise RunFilesError(f"{path} is gone; run again with --resume to have it written anew") from None
    decoder = msgspec.json.Decoder(Call)
    calls = []
    for number, line in enumerate(lines, 1):
        try:
            calls.append(decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise RunFilesError(
                f"{path}, line {number} is damaged ({error}); run again with --resume to have it written anew"
            ) from error
    return calls


def _killed(folder: Path) -> RunFilesError:
    return RunFilesError(f"the run in {folder} was killed before it ended; run it again with --resume to finish it")
