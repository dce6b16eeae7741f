"""Keys at the simulator: asked for as at a real provider, and not at all by the command that needs none."""

import http.client
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import batchwork
from batchwork.simulator import Simulator, SimulatorConfig
from tests.simulator.wire import ask_anthropic, message, send

WIRES = {"anthropic": "anthropic:claude-haiku-5-5", "openai": "openai:gpt-6-luna"}


@pytest.fixture
def no_key_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)  # and so no .env
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_key_anywhere")
@pytest.mark.parametrize("mode", ["live", "batch"])
@pytest.mark.parametrize("wire", WIRES)
def test_the_command_lines_simulator_answers_without_a_key(wire, mode):
    with Simulator(SimulatorConfig.from_options(persona="echo", batch_time=0.1)) as simulator:
        url = simulator.anthropic_url if wire == "anthropic" else simulator.openai_url
        results = batchwork.run(["a", "b"], model=WIRES[wire], base_url=url, mode=mode, poll_interval=0.05)
    assert [r.status.value for r in results] == ["succeeded", "succeeded"]


@pytest.mark.usefixtures("no_key_anywhere")
@pytest.mark.parametrize("model", WIRES.values())
def test_a_simulator_that_requires_a_key_refuses_as_a_provider_does(model):
    with Simulator(SimulatorConfig.from_options(require_key=True)) as simulator:
        url = simulator.anthropic_url if "claude" in model else simulator.openai_url
        with pytest.raises(batchwork.RunPaused, match="does not accept the credentials"):
            batchwork.run(["a"], model=model, base_url=url)


def test_a_key_that_is_shown_must_be_a_known_one_all_the_same():
    config = SimulatorConfig(key_required=False, api_keys=frozenset({"known"}))
    with Simulator(config) as simulator:
        version = {"anthropic-version": "2026-10-21"}
        statuses = [
            send(simulator, "POST", "/v1/messages", message(), version | shown).status
            for shown in ({}, {"x-api-key": "known"}, {"x-api-key": "other"})
        ]
    assert statuses == [200, 200, 401]


def test_the_readmes_simulator_needs_no_key_in_a_bare_shell(tmp_path):
    (tmp_path / "rivers.jsonl").write_text('{"river": "Elbe"}\n{"river": "Rhine"}\n')
    shell = {"cwd": tmp_path, "env": {"PATH": "/usr/bin:/bin", "NO_COLOR": "1"}, "text": True}
    program = [sys.executable, "-m", "batchwork"]
    simulate = [*program, "simulate", "--persona", "echo", "--rpm", "2400", "--faults", "529=0.02", "--port", "0"]
    with subprocess.Popen(simulate, stdout=subprocess.PIPE, **shell) as simulator:
        try:
            simulator.stdout.readline()
            for model in WIRES.values():
                address = simulator.stdout.readline().split()[-1]
                told = ["run", "rivers.jsonl", "-o", f"{model[:6]}.jsonl", "--model", model, "--base-url", address]
                told += ["--prompt", "Where does {river} rise?", "--max-cost", "1"]
                ended = subprocess.run([*program, *told], capture_output=True, timeout=60, check=False, **shell)
                assert ended.returncode == 0, ended.stderr
        finally:
            simulator.terminate()


def test_the_simulator_ends_while_a_call_hangs():
    asked = []

    def ask(sim) -> None:
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            ask_anthropic(sim, message())
        asked.append("cut off")

    with Simulator(persona="echo") as sim:
        sim.next_faults("live", ["hang_after"])
        waiting = threading.Thread(target=ask, args=(sim,), daemon=True)
        waiting.start()
        while not sim.log()["total"]["billed"]:
            time.sleep(0.01)
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
    waiting.join(5)
    assert asked == ["cut off"]
