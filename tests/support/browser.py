"""A real browser for tests: Chromium as the system has it, spoken to through a pipe in its own protocol.

It needs no driver and no package, so nothing is downloaded and versions cannot conflict.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS: tuple[str, ...] = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
FLAGS += ("--no-first-run", "--disable-background-networking", "--disable-extensions", "--force-color-profile=srgb")


class Browser:
    """One page of Chromium; `complaints` holds every error and warning of its console."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        self._buffer = b""
        self._last = 0
        self._session: str | None = None
        self._loaded = False
        self.complaints: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def open(self, address: str) -> None:
        """Go to an address and return when it is loaded."""
        self._loaded = False
        failed = self._ask("Page.navigate", url=address).get("errorText")
        assert not failed, f"{address}: {failed}"
        while not self._loaded:
            self._hear()

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{script}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def until(self, script: str, within: float = 20.0) -> None:
        """Return when the expression is true."""
        end = time.monotonic() + within
        while not self.run(script):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Press the mouse on an element, where a person would."""
        found = json.dumps(selector)
        self.run(f"document.querySelector({found}).scrollIntoView({{block: 'center'}})")
        box = self.run(f"document.querySelector({found}).getBoundingClientRect().toJSON()")
        at = {"x": box["x"] + min(box["width"] / 2, 12), "y": box["y"] + min(box["height"] / 2, 12)}
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def type(self, selector: str, text: str) -> None:
        """Write into a field."""
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self._ask("Input.insertText", text=text)

    def shoot(self, path: Path, *, width: int, height: int, dark: bool = False, whole: bool = False) -> None:
        """A picture of the page as PNG."""
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])
        picture = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._hear()).get("id") != self._last:
            pass
        assert "error" not in answer, f"{method}: {answer['error']}"
        return dict(answer["result"])

    def _hear(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._back, 1 << 20)
            assert more, "Chromium ended"
            self._buffer += more
        line, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        match message.get("method"), message.get("params", {}):
            case "Page.loadEventFired", _:
                self._loaded = True
            case "Runtime.exceptionThrown", said:
                self.complaints.append(str(said["exceptionDetails"]))
            case "Runtime.consoleAPICalled", said if said["type"] in {"error", "warning", "assert"}:
                self.complaints.append(str(said["args"]))
            case "Log.entryAdded", said if said["entry"]["level"] in {"error", "warning"}:
                self.complaints.append(said["entry"]["text"])
            case "Page.javascriptDialogOpening", said:
                self.complaints.append(f"dialog: {said['message']}")
        return message


def executable() -> str:
    """Where Chromium is; `make test` installs it where it can."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, f"none of {', '.join(NAMES)} is installed: make browser, or install Chromium by hand"
    return found


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A separate browser without a profile, which ends with the block."""
    in_read, in_write = os.pipe()
    out_read, out_write = os.pipe()
    with tempfile.TemporaryDirectory(prefix="commonplace-browser-", ignore_cleanup_errors=True) as profile:
        # The protocol's pipe has the numbers 3 and 4: the shell puts ours there.
        script = f'exec "$@" 3<&{in_read} 4>&{out_write}'
        flags = (*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}")
        process = subprocess.Popen(
            ["bash", "-c", script, "bash", executable(), *flags],
            pass_fds=(in_read, out_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(in_read)
        os.close(out_write)
        try:
            yield Browser(in_write, out_read)
        finally:
            process.terminate()
            process.wait(30)
            os.close(in_write)
            os.close(out_read)
