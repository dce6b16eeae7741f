"""The shell completes commands, options and values by asking the program itself."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("batchwork")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed beside the interpreter")


def _ask(environment: dict[str, str], *arguments: str) -> str:
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*arguments], env={"PATH": path, **environment}, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("batchwork est", "estimate"),
        ("batchwork run in.jsonl --model mock : echo --prompt \"'Say {text}'\" --tempe", "--temperature"),
        ("batchwork run --mode b", "batch"),
        ("batchwork retry --max-c", "--max-cost"),
    ],
)
def test_bash_completes_with_the_script_that_the_program_prints(words: str, completed: str) -> None:
    script = _ask({"_BATCHWORK_COMPLETE": "source_bash"}, str(PROGRAM))
    words_of_bash = f"COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))"
    asked = f'{script}\n{words_of_bash}\n_batchwork_completion batchwork\necho "${{COMPREPLY[@]}}"'
    assert _ask({}, "bash", "-c", asked).split() == [completed]


@pytest.mark.parametrize(("shell", "registers"), [("zsh", "compdef _batchwork_completion"), ("fish", "complete ")])
def test_zsh_and_fish_are_answered_in_their_own_form(shell: str, registers: str) -> None:
    assert registers in _ask({"_BATCHWORK_COMPLETE": f"source_{shell}"}, str(PROGRAM))
    environment = {
        "_BATCHWORK_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": "batchwork run --temp",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    assert "--temperature" in _ask(environment, str(PROGRAM))
