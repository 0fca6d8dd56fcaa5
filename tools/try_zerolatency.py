"""Run all of zerolatency 0.2.1 against a local server, with the SDKs that it imports (261 MB); not part of CI.

PYTHONPATH=src:. python tools/try_zerolatency.py DIRECTORY     (created if missing)
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.services import serving, test_clients
from tests.services.model import model

PACKAGE = "zerolatency-0.2.1"
WRAPPERS = """
import time
from zerolatency import AnthropicWithMemory, GeminiWithMemory, OpenAIWithMemory

given = dict(api_key="x", zl_api_key="k", agent_id="my-agent", zl_base_url="{url}")
client = OpenAIWithMemory(**given)
client.chat.completions.create(model="gpt-4", messages=[{{"role": "user", "content": "My favorite color is blue"}}])
until = time.monotonic() + 20
for wrapper in (client, AnthropicWithMemory(**given), GeminiWithMemory(**given)):
    while "blue" not in (wrapper._recall_memories("user: What's my favorite color?") or ""):
        assert time.monotonic() < until, wrapper
        time.sleep(0.1)
client.chat.completions.create(model="gpt-4", messages=[{{"role": "user", "content": "What's my favorite color?"}}])
print("done")
"""


def main(directory: Path) -> None:
    """Install the package if needed, and run its client and its wrappers."""
    target = directory / PACKAGE
    if not target.exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), "zerolatency==0.2.1"]
        subprocess.run(install, check=True)
    serving.CLIENTS = directory
    asked: list[dict[str, Any]] = []

    def script(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return {"content": "Noted."}

    folder = tempfile.TemporaryDirectory()
    with folder as place, model(script) as url, serving.serving(Path(place) / "book.db") as served:
        quiet = {"PYTHONWARNINGS": "ignore"}
        whole = test_clients.ZEROLATENCY.format(loading=test_clients.PLAIN, url=served.at("client"))
        told = [serving.run_client(whole, PACKAGE, **quiet)]
        wrapped = WRAPPERS.format(url=served.at("wrappers"))
        told.append(serving.run_client(wrapped, PACKAGE, OPENAI_BASE_URL=url, **quiet))
    if told != ["done\n", "done\n"] or "blue" not in str(asked[-1]["messages"][0]):
        raise SystemExit(f"it does not work: {told}")
    sys.stdout.write("the client and the wrappers work\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
