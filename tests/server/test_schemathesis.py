"""schemathesis reads our OpenAPI document and tries to catch us lying. In an environment of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from batchwork.server.keys import key_ring
from tests.server.house import serving

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = ROOT / ".venv-schemathesis"
WANTED = "schemathesis==4.32.5"
KEY = "bw-a-key-for-the-fuzzer"


def program() -> Path:
    """The program, which is installed on first use."""
    installed = ENVIRONMENT / "bin" / "schemathesis"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet", WANTED]
        subprocess.run(pip, check=True)
    return installed


@pytest.mark.real
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    with serving(keys=key_ring([KEY]), models=("mock:echo?seed=2",)) as house:
        config = Path(__file__).parent / "fuzzing" / "schemathesis.toml"
        command = [
            str(program()),
            "--config-file",
            str(config),
            "run",
            f"http://127.0.0.1:{house.port}/openapi.json",
            "-H",
            f"X-API-Key: {KEY}",
        ]
        command += ["--max-examples", os.environ.get("SCHEMATHESIS_EXAMPLES", "100"), "--seed", "1", "--no-color"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        environment |= {"PYTHONPATH": str(Path(__file__).parent / "fuzzing"), "SCHEMATHESIS_HOOKS": "hooks"}
        told = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout[-6000:] + told.stderr[-2000:]
