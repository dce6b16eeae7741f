"""Settings are checked at birth and say what is wrong."""

import asyncio

import pytest

from batchwork.simulator import Faults, Latency, Simulator, SimulatorConfig, SimulatorConfigError


def test_the_option_strings_of_the_command_line_are_read():
    config = SimulatorConfig.from_options(
        port=8123,
        latency="0.3,0.8",
        rpm=60,
        faults="529=0.02, create:reset_after=0.5",
        batch_time=9,
        time_scale=60,
        seed=4,
    )
    assert config.latency == Latency(median_s=0.3, sigma=0.8)
    assert config.faults == Faults.of({"529": 0.02, "create:reset_after": 0.5})
    assert (config.port, config.rpm, config.batch_time_s, config.time_scale, config.seed) == (8123, 60, 9, 60, 4)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"latency": "soon"}, "latency 'soon'"),
        ({"latency": "1,2,3"}, "MEDIAN,SIGMA"),
        ({"latency": "-1"}, "at least 0"),
        ({"rpm": 0}, "rpm must be at least 1"),
        ({"faults": "777=0.1"}, "unknown fault '777'"),
        ({"persona": "poet"}, "unknown persona 'poet'"),
        ({"persona": "script:"}, "needs a file"),
        ({"time_scale": 0}, "time_scale"),
        ({"batch_time": -1}, "batch_time_s"),
        ({"port": 99999}, "port"),
    ],
)
def test_an_option_that_cannot_be_is_an_error_that_names_it(options, says):
    with pytest.raises(SimulatorConfigError, match=says):
        SimulatorConfig.from_options(**options)


def test_a_script_that_cannot_be_read_is_an_error_before_anything_starts(tmp_path):
    script = tmp_path / "script.json"
    for content in ("{", '{"rules": [{"do": ["nonsense"]}]}', '{"rules": [{"do": []}]}', '{"rulez": []}'):
        script.write_text(content)
        with pytest.raises(SimulatorConfigError, match=r"script\.json"):
            Simulator(persona=f"script:{script}")
    with pytest.raises(SimulatorConfigError, match=r"missing\.json"):
        Simulator(persona=f"script:{tmp_path / 'missing.json'}")


def test_a_configuration_and_keywords_together_are_refused():
    with pytest.raises(TypeError):
        Simulator(SimulatorConfig(), persona="echo")


def test_the_address_is_known_only_while_it_runs():
    simulator = Simulator(persona="echo")
    with pytest.raises(RuntimeError, match="not running"):
        simulator.url  # noqa: B018
    with simulator:
        assert simulator.openai_url == f"{simulator.anthropic_url}/v1"


def test_a_port_in_use_is_an_error_of_the_caller():
    with Simulator(persona="echo") as first:
        port = int(first.url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"), Simulator(persona="echo", port=port):
            pass


def test_it_serves_in_a_loop_of_the_callers_own():
    async def main() -> str:
        simulator = Simulator(persona="echo")
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(simulator.serve_forever(ready.set_result))
        url = await ready
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return url

    assert asyncio.run(main()).startswith("http://127.0.0.1:")
