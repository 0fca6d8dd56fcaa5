"""The files of a page log, also if the program that writes them fails."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import InvalidInput, StoreUnavailable
from commonplace.integrations.tasks.pages import PageLogger, markup

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


def logger(path: Path, level: str = "DEBUG", **more: str) -> PageLogger:
    return PageLogger({"level": level, "path": str(path), **more})  # type: ignore[arg-type]


def directory(log: PageLogger) -> Path:
    assert log.directory is not None
    return Path(log.directory)


def everything(log: PageLogger) -> str:
    return "".join(path.read_text("utf-8") for path in sorted(directory(log).glob("*.html")))


def tree(log: PageLogger) -> dict[str, str | None]:
    """Return the name of each call and of its parent."""
    text = (directory(log) / "index.html").read_text("utf-8")
    rows = re.findall(r'<li id="(p\d+)"(?: data-in="(p\d+)")?[^>]*>.*?<bdi>(.*?)</bdi>', text)
    names = {number: name for number, _, name in rows}
    return {name: names.get(below) for _, below, name in rows}


class Text(HTMLParser):
    """Collects the text that a browser would show."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.tags = "", []  # type: ignore[var-annotated]

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)


@given(st.text())
def test_any_text_comes_out_as_text(value: str) -> None:
    reader = Text()
    reader.feed(markup.text(value))
    reader.close()
    assert reader.tags == []
    assert reader.text == value.replace("\r\n", "\n").translate(markup._CONTROLS)


def test_nothing_is_written_without_a_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for log in (PageLogger(), logger(tmp_path / "log", "NONE")):
        assert log.enter_function() is None
        log.critical("unheard")
        log.log_message_content("unheard", "unheard")
        log.log_model_call("unheard", [], None)
        log.add_link_to_image("unheard", "nowhere.png")
        with log.page("unheard") as page:
            assert page is None
        log.leave_function()
        log.finalize()
        assert log.directory is None
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_stays(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", "utf-8")
    first = logger(tmp_path)
    first.info("of the first run")
    first.finalize()
    before = everything(first)
    second = logger(tmp_path)
    second.finalize()
    assert first.directory != second.directory
    assert everything(first) == before
    assert (tmp_path / "thesis.txt").read_text("utf-8") == "years of work"
    runs = (tmp_path / "index.html").read_text("utf-8")
    assert all(f'href="{directory(log).name}/index.html"' in runs for log in (first, second))
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_file()) == ["index.html", "thesis.txt"]


def test_another_programs_index_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<h1>My garden</h1>", "utf-8")
    with pytest.raises(InvalidInput, match="not written by a page log"):
        logger(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["index.html"]
    assert (tmp_path / "index.html").read_text("utf-8") == "<h1>My garden</h1>"


def test_an_unknown_setting_or_value_is_refused(tmp_path: Path) -> None:
    for config, said in (({"level": "LOUD"}, "not one of DEBUG"), ({"levle": "INFO"}, "no setting 'levle'")):
        with pytest.raises(InvalidInput, match=said):
            PageLogger(config)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="redact"):
        logger(tmp_path, redact="all")
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        logger(tmp_path / "file" / "log")


@pytest.mark.slow
def test_a_program_that_is_killed_leaves_all_that_it_logged(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from commonplace.integrations.tasks.pages import PageLogger\n"
        "log = PageLogger({'level': 'INFO', 'path': sys.argv[1]})\n"
        "def outer():\n    log.enter_function()\n    inner()\n"
        "def inner():\n    log.enter_function()\n    log.error('the last words')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "outer()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment(), check=False)
    assert done.returncode == -9
    (run,) = (each for each in tmp_path.iterdir() if each.is_dir())
    assert "the last words" in (run / "0002.html").read_text("utf-8")
    assert 'href="0002.html"' in (run / "0001.html").read_text("utf-8")
    index = (run / "index.html").read_text("utf-8")
    assert 'id="p2" data-in="p1"' in index
    assert 'data-of="p2" data-rose="40"' in index
    assert '<li hidden data-of="run"' not in index


@pytest.mark.slow
def test_a_program_that_just_ends_has_its_end_written(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom commonplace.integrations.tasks.pages import PageLogger\n"
        "log = PageLogger({'level': 'INFO', 'path': sys.argv[1]})\nlog.enter_function()\n"
        "sys.exit(', '.join({'autogen_core', 'autogen_agentchat', 'PIL'} & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment(), check=False)
    assert done.returncode == 0
    (index,) = tmp_path.glob("*/index.html")
    assert "1 call · 0 model calls · 0 tokens" in index.read_text("utf-8")
    assert "1 still open at the end" in index.read_text("utf-8")


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")}


def test_tasks_and_threads_each_have_their_own_place_in_the_tree(tmp_path: Path) -> None:
    log = logger(tmp_path)

    async def child(name: str) -> None:
        with log.page(name):
            await asyncio.sleep(0)
            await asyncio.to_thread(grandchild, f"below {name}")
            log.info(f"said by {name}")

    def grandchild(name: str) -> None:
        with log.page(name):
            pass

    async def parent() -> None:
        log.enter_function()
        await asyncio.gather(*(child(f"child {number}") for number in range(20)))
        log.info("said by parent")
        log.leave_function()

    asyncio.run(parent())
    thread = threading.Thread(target=grandchild, args=("alone",))
    thread.start()
    thread.join()
    below = {f"below child {number}": f"child {number}" for number in range(20)}
    children = dict.fromkeys((f"child {number}" for number in range(20)), "parent")
    assert tree(log) == {"parent": None, **children, **below, "alone": None}
    for path in directory(log).glob("0*.html"):
        title = re.findall(r"<title>(.*?)</title>", path.read_text("utf-8"))[0]
        said = re.findall(r"said by ([\w ]+)", path.read_text("utf-8"))
        assert said == ([title] if title.startswith(("child", "parent")) else [])


class Worker:
    """Two methods of which the inner one is left by an exception only."""

    def __init__(self, log: PageLogger) -> None:
        self.log = log

    def outer(self) -> None:
        self.log.enter_function()
        with contextlib.suppress(KeyError):
            self.inner()
        self.log.leave_function()

    def inner(self) -> None:
        self.log.enter_function()
        raise KeyError("lost")


def test_a_call_that_never_left_does_not_swallow_its_callers(tmp_path: Path) -> None:
    log = logger(tmp_path)
    Worker(log).outer()
    Worker(log).outer()
    log.leave_function()
    with pytest.raises(KeyError), log.page("step"):
        raise KeyError("<lost>")
    index = (directory(log) / "index.html").read_text("utf-8")
    assert re.findall(r'id="(p\d)"(?: data-in="(p\d)")?', index) == [
        ("p1", ""),
        ("p2", "p1"),
        ("p3", ""),
        ("p4", "p3"),
        ("p5", ""),
    ]
    assert "<bdi>Worker.inner</bdi>" in index
    assert "Left without leave_function after" in (directory(log) / "0002.html").read_text("utf-8")
    assert "KeyError: &#x27;&lt;lost&gt;&#x27;" in (directory(log) / "0005.html").read_text("utf-8")


def test_a_level_keeps_out_what_is_below_it_and_the_calls_that_said_nothing(tmp_path: Path) -> None:
    log = logger(tmp_path, "WARNING")
    with log.page("quiet"), log.page("also quiet"):
        log.info("unheard")
        log.log_dict_list([{"a": "unheard"}], "unheard")
    with log.page("outer"), log.page("inner"):
        log.debug("unheard")
        log.warning("heard")
    log.error("said outside any call")
    assert tree(log) == {"outer": None, "inner": "outer"}
    assert "unheard" not in everything(log)
    assert "said outside any call" in (directory(log) / "index.html").read_text("utf-8")


def test_secrets_do_not_reach_the_pages(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    log = logger(tmp_path / "a")
    with log.page(f"with {token}"):
        log.info(f"the key is {token}")
        log.log_message_content([token, {"token": token}], f"summary {token}")
        log.log_model_call("ask", [{"role": "user", "content": token}], {"content": token, "usage": None})
        log.log_dict_list([{"deep": [{"password": "correct-horse-7"}]}], "list")
    assert token not in everything(log)
    assert "correct-horse-7" not in everything(log)
    assert "[redacted: github token]" in everything(log)
    plain = logger(tmp_path / "b", redact="nothing")
    plain.info(token)
    assert token in everything(plain)


def test_images_are_copied_under_names_of_the_logs_own(tmp_path: Path) -> None:
    source = tmp_path / 'a"b.png'
    source.write_bytes(PNG)
    log = logger(tmp_path / "log")
    with log.page("look"):
        log.add_link_to_image('a "map" <of> it', source)
        source.unlink()
    log.flush()
    assert (directory(log) / "image-0001.png").read_bytes() == PNG
    assert 'alt="a &quot;map&quot; &lt;of&gt; it"' in everything(log)
    log.finalize()
    (tmp_path / "late.png").write_bytes(PNG)
    log.add_link_to_image("after the end", tmp_path / "late.png")
    assert (directory(log) / "image-0002.png").read_bytes() == PNG
    with pytest.raises(InvalidInput, match="cannot be read"):
        log.add_link_to_image("gone", source)
    (tmp_path / "drawing.png").write_text("<svg onload='alert(1)'/>", "utf-8")
    with pytest.raises(InvalidInput, match="is not a PNG"):
        log.add_link_to_image("a program", tmp_path / "drawing.png")


def test_only_a_link_that_the_log_made_is_a_link(tmp_path: Path) -> None:
    log = logger(tmp_path)
    (tmp_path / "a:b #1?.txt").touch()
    log.info(log.log_link_to_local_file(tmp_path / "a:b #1?.txt"))
    log.info(log.log_link_to_local_file("javascript:alert(1)"))
    log.info("see " + log.log_link_to_local_file("/etc/hosts"))
    text = everything(log)
    assert 'href="../a%3Ab%20%231%3F.txt"' in text
    assert 'href="javascript' not in text
    assert 'href="file:///etc/hosts"' not in text


def test_a_disk_that_fails_is_reported_once_and_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = logger(tmp_path)
    with caplog.at_level(logging.ERROR, "commonplace.integrations.tasks.pages"), log.page("before"):
        shutil.rmtree(directory(log))
        log.info("lost")
        log.error("lost")
    log.finalize()
    assert len(caplog.records) == 1
    assert "is not written any further" in caplog.text


class Unshown:
    """A value whose every representation raises."""

    def __repr__(self) -> str:
        raise ValueError("closed")


class Image:
    """An image as AutoGen has it, whose pixels were closed meanwhile."""

    class image:
        @staticmethod
        def save(*args: object, **options: object) -> None:
            raise ValueError("Operation on closed image")


def test_a_value_that_cannot_be_written_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = logger(tmp_path)
    ring: dict[str, object] = {}
    ring["ring"] = ring
    log.log_dict_list([ring, {(1, 2): "tuple"}, {"a": Unshown()}], None)  # type: ignore[arg-type, dict-item]
    log.log_message_content([Image(), threading.Lock()], "odd")
    log.info(log.log_link_to_local_file(tmp_path / "\udcff.txt"))
    log.finalize()
    text = everything(log)
    for shown in ("&#x27;ring&#x27;: {...}", "(1, 2): &#x27;tuple&#x27;", "dict that cannot be shown", "lock object"):
        assert shown in text
    assert 'href="../%FF.txt"' in text
    assert "an image is missing in the page log" in caplog.text
    assert 'data-of="run" data-state="done"' in text


def test_no_file_is_made_through_a_link_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "index.html").symlink_to(tmp_path / "elsewhere.html")
    with pytest.raises(StoreUnavailable):
        logger(tmp_path / "log")
    assert not (tmp_path / "elsewhere.html").exists()
