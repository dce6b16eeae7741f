"""The OpenAPI document read by somebody else's maker of clients, and the client that it makes sends both calls.

`make smoke-real` installs openapi-python-client into an environment of its own, in which the client then runs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from batchwork.server.keys import key_ring
from tests.server.house import serving

BIN = Path(sys.prefix) / "openapi-python-client" / "bin"
KEY = "a-key-of-sixteen-characters"
CLIENT = """
import json, sys
from prompts_client import AuthenticatedClient, models
from prompts_client.api.default import health, prompt, prompts

address, key = sys.argv[1:]
with AuthenticatedClient(base_url=address, token=key, prefix="", auth_header_name="X-API-Key") as client:
    one = prompt.sync(client=client, body=models.OnePrompt(prompt="hello"))
    items = [models.PromptItem(prompt=text, id=text) for text in ("a", "b")]
    items.append(models.PromptItem(messages=[models.Turn(role=models.TurnRole.USER, content="c")]))
    many = prompts.sync(client=client, body=models.PromptsBody(prompts=items))
    lives = health.sync(client=client)
print(json.dumps([one.response, [(answer.id, answer.response) for answer in many.results], lives.status]))
"""

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not BIN.exists(), reason="openapi-python-client is not installed"),
]


def said(folder: Path, *command: str) -> str:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"  # the maker formats with the ruff beside it
    environment = os.environ | {"PATH": path}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_generated_client_asks_one_prompt_and_many(tmp_path: Path) -> None:
    maker, python = str(BIN / "openapi-python-client"), str(BIN / "python")
    with serving(keys=key_ring([KEY])) as house:
        (tmp_path / "openapi.json").write_bytes(house.get("/openapi.json", **{"x-api-key": KEY}).body)
        made = ("--path", "openapi.json", "--output-path", "prompts_client", "--meta", "none", "--fail-on-warning")
        said(tmp_path, maker, "generate", *made)
        answers = json.loads(said(tmp_path, python, "-c", CLIENT, f"http://127.0.0.1:{house.port}", KEY))
    assert answers == ["hello", [["a", "a"], ["b", "b"], [None, "c"]], "ok"]
