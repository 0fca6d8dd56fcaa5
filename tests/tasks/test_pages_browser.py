"""A page log in Chromium, from files, with hostile texts of models and memos."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall, Image
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    ModelInfo,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.replay import ReplayChatCompletionClient
from PIL import Image as Pixels

from commonplace.integrations.tasks.pages import PageLogger
from tests.support.browser import Browser, browser

pytestmark = pytest.mark.browser

INFO = ModelInfo(vision=True, function_calling=True, json_output=True, structured_output=False, family="unknown")
# Each would set a mark in the page, leave it, or draw a link, if it became markup.
HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    '</pre></details></main></style><img src=x onerror="window.hacked = 3">',
    '" onmouseover="window.hacked = 4" autofocus onfocus="window.hacked = 5" x="',
    "'><svg/onload=window.hacked=6>",
    '<iframe srcdoc="<script>parent.hacked = 7</script>"></iframe>',
    '<a href="javascript:window.hacked = 8" id="bait">click</a> javascript:window.hacked=8 http://evil.example/',
    '<meta http-equiv=refresh content="0;url=http://evil.example/"><base href="http://evil.example/">',
    "<!-- --!> <![CDATA[ <style>*{display:none}</style> <template><textarea><title><plaintext>",
    "\x00\x1b[31m\u202eevil\ud800 &lt;script&gt; &#60;script&#62; \u2028 \ufffe",
)
STRANGE = "script:not(head *), iframe, svg, base, template, textarea, object, [onload], [onerror], [onfocus], #bait"


class Apprentice:
    """Works on a task while others do, and logs all of it."""

    def __init__(self, log: PageLogger, picture: Path) -> None:
        self.log, self.picture = log, picture

    async def work(self, number: int) -> None:
        self.log.enter_function()
        self.log.debug(f"task {number} begins")
        await asyncio.sleep(0)
        self.ask(number)
        self.log.add_link_to_image(HOSTILE[3], self.picture)
        if number == 1:
            self.log.warning("this one is slow")
        self.log.leave_function()

    def ask(self, number: int) -> None:
        text = "\n".join(HOSTILE).encode("utf-8", "replace").decode()
        call = FunctionCall(id=HOSTILE[3], name=HOSTILE[0], arguments=json.dumps({"a": text}))
        result = FunctionExecutionResult(content=text, name=HOSTILE[2], call_id="1", is_error=True)
        sent = [
            SystemMessage(content=text),
            UserMessage(content=[text, Image(Pixels.new("RGB", (30, 20), "teal"))], source=HOSTILE[4]),
            AssistantMessage(content=[call], thought=text, source=HOSTILE[5]),
            FunctionExecutionResultMessage(content=[result]),
        ]
        usage = RequestUsage(prompt_tokens=1200, completion_tokens=34)
        answer = CreateResult(content=text, thought=text, usage=usage, finish_reason="stop", cached=False)
        self.log.log_model_call(f"{HOSTILE[number]} call", sent, answer)


async def program(log: PageLogger, picture: Path) -> None:
    with log.page("Program"):
        await asyncio.gather(*(Apprentice(log, picture).work(number) for number in range(3)))
        for text in HOSTILE:
            log.info(text)
            with log.page(text):
                log.error("x\n" * 30 + text)
        log.log_message_content([*HOSTILE, dict(zip(HOSTILE, HOSTILE, strict=True)), 5, None], HOSTILE[2])
        log.log_dict_list([{text: [text]} for text in HOSTILE], HOSTILE[4])
        agent = AssistantAgent("helper", ReplayChatCompletionClient([HOSTILE[0], HOSTILE[1]], model_info=INFO))
        done = await agent.run(task=HOSTILE[0])
        log.log_model_task("The agent", [UserMessage(content=HOSTILE[2], source="user")], done)
        log.info(log.log_link_to_local_file(picture))
    log.critical(HOSTILE[2])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pages")
    picture = root / 'a "map" #1.png'
    Pixels.new("RGB", (60, 40), "navy").save(picture)
    log = PageLogger({"level": "DEBUG", "path": str(root / "log"), "redact": "nothing"})
    asyncio.run(program(log, picture))
    log.finalize()
    assert log.directory is not None
    return Path(log.directory)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as opened:
        yield opened


def shown(chromium: Browser, selector: str) -> list[str]:
    """Return the texts of the visible elements."""
    visible = f"[...document.querySelectorAll({json.dumps(selector)})].filter(e => e.checkVisibility())"
    return [str(text) for text in chromium.run(f"{visible}.map(e => e.innerText)")]


def test_every_link_leads_somewhere_and_no_content_becomes_script_markup_or_link(run: Path, chromium: Browser) -> None:
    chromium.complaints.clear()
    seen: set[str] = set()
    waiting = [(run.parent / "index.html").as_uri()]
    while waiting:
        address = waiting.pop()
        path = Path(unquote(urlsplit(address).path))
        if address not in seen and path.suffix == ".html":
            chromium.open(address)
            assert_harmless(chromium)
            waiting += links_of(chromium, address)
        assert path.is_file(), address
        seen.add(address)
    assert {page.as_uri() for page in (*run.glob("*.html"), *run.glob("image-*"))} <= seen
    assert len([*run.glob("*.html")]) > 20
    assert chromium.complaints == []


def assert_harmless(chromium: Browser) -> None:
    """Assert that the page holds only elements that the log makes, and that its images load."""
    assert chromium.run("[location.protocol, document.scripts.length, document.styleSheets.length]") == ["file:", 1, 1]
    assert chromium.run("window.hacked === undefined && document.querySelector('main') !== null")
    assert chromium.run(f"document.querySelectorAll({json.dumps(STRANGE)}).length") == 0
    decoded = "Promise.all([...document.images].map(i => (i.loading = 'eager', i.decode().then(() => i.naturalWidth))))"
    assert all(width > 0 for width in chromium.run(decoded))


def links_of(chromium: Browser, address: str) -> set[str]:
    """Return the addresses that a page links to, and assert that those within it exist."""
    links = chromium.run("[...document.querySelectorAll('[href], [src]')].map(e => e.href || e.src)")
    assert all(link.startswith("file:///") for link in links)
    anchors = [urldefrag(link).fragment for link in links if urldefrag(link).url == address]
    assert chromium.run(f"{json.dumps(anchors)}.filter(id => id && !document.getElementById(id))") == []
    return {urldefrag(link).url for link in links}


def test_what_was_logged_can_be_read_as_it_was(run: Path, chromium: Browser) -> None:
    chromium.open((run / "0001.html").as_uri())
    texts = chromium.run("[...document.querySelectorAll('article pre')].map(e => e.textContent)")
    assert set(HOSTILE[:-1]) <= set(texts)
    assert "␀␛[31m\u202eevil\\ud800 &lt;script&gt; &#60;script&#62; \u2028 �" in texts


def test_the_call_tree_is_one_tree_that_folds_and_filters(run: Path, chromium: Browser) -> None:
    chromium.open((run / "index.html").as_uri())
    assert chromium.run("[...document.querySelector('.tree').children].filter(e => !e.hidden).length") == 2
    workers = "#p1 > details > ul > li"
    assert shown(chromium, f"{workers} > details > summary a")[:3] == ["Apprentice.work"] * 3
    assert chromium.run(f"document.querySelectorAll('{workers} .model').length") == 3
    assert all(" ms" in text or " s" in text for text in shown(chromium, "li.call > details > summary > .took"))
    assert "14 calls · 4 model calls" in shown(chromium, "#run")[0]
    assert shown(chromium, ".unfinished") == []

    every = len(shown(chromium, ".tree summary"))
    chromium.click("#p1 > details > summary .took")
    assert len(shown(chromium, ".tree summary")) == 1
    chromium.click(".unfold")
    assert len(shown(chromium, ".tree summary")) == every
    chromium.click(".fold")
    assert len(shown(chromium, ".tree summary")) == 1

    chromium.type(".search", "PRENTICE.w")
    assert [text.split("\n")[0].split("  ")[0] for text in shown(chromium, ".tree summary a")] == [
        "Program",
        *["Apprentice.work"] * 3,
    ]
    assert shown(chromium, ".shown")[0].startswith("4 of ")
    chromium.run("document.querySelector('.search').select()")
    chromium.type(".search", "")
    choose(chromium, "30")
    # The warning, the errors of ten calls, their parents, and the line that belongs to no call.
    assert len(shown(chromium, ".tree summary")) == 12
    assert len(shown(chromium, ".note")) == 1


def test_a_page_filters_by_level_and_opens_long_texts(run: Path, chromium: Browser) -> None:
    chromium.open((run / "0003.html").as_uri())
    assert shown(chromium, "h1") == ["Apprentice.work"]
    assert shown(chromium, "nav a") == ["Call tree", "Program"]
    assert "this one is slow" in " ".join(shown(chromium, "article"))
    assert len(shown(chromium, "article")) == 4
    choose(chromium, "20")
    assert len(shown(chromium, "article")) == 3
    choose(chromium, "30")
    assert [text.split("\n")[-1] for text in shown(chromium, "article")] == ["this one is slow"]

    chromium.click("nav a:last-child")
    chromium.until("document.title === 'Program'")
    broken = chromium.run("[...document.querySelectorAll('article.call a:not(.at)')].pop().href")
    chromium.open(broken)
    assert shown(chromium, "article pre") == []
    chromium.click("article summary")
    assert len(shown(chromium, "article pre")) == 1


def test_a_model_call_shows_its_messages_tools_images_and_tokens(run: Path, chromium: Browser) -> None:
    chromium.open((run / "index.html").as_uri())
    chromium.open(chromium.run("document.querySelector('li.model a').href"))
    assert shown(chromium, ".usage") == ["1,200 prompt tokens, 34 completion tokens"]
    titles = [text.split()[0] for text in shown(chromium, ".message > summary")]
    assert titles == ["system", "user", "assistant", "tool", "answer", "thought"]
    assert shown(chromium, "img") == []
    chromium.click(".message.user > summary")
    assert len(shown(chromium, "img")) == 1
    chromium.until("document.images[0].naturalWidth === 30")
    chromium.click(".message.assistant > summary")
    assert shown(chromium, ".message.assistant h3 > bdi") == [f"calls {HOSTILE[0]}"]
    assert shown(chromium, ".tool.failed h3 > bdi") == [f"result of {HOSTILE[2]} failed"]


def choose(chromium: Browser, level: str) -> None:
    chromium.run(
        f"(e => {{ e.value = '{level}'; e.dispatchEvent(new Event('change')) }})(document.querySelector('.choose'))"
    )
