"""All dialects use one book: what one writes, every other one finds."""

from __future__ import annotations

from tests.services.serving import Served, talking


def test_what_is_written_through_one_is_recalled_through_the_others(served: Served, at: str, space: str) -> None:
    book = served.book(space)
    with talking(at) as client:
        client.post("/v1/memory/remember", json={"content": "The parrot is called Coco", "tags": ["pets"]})
        client.post("/memories/seed", json={"content": "The hamster is called Fritz", "agent_id": "zoo"})
        book.remember("The tortoise is called Speedy")
        for name in ("parrot", "hamster", "tortoise"):
            query, full = f"what is the {name} called?", f"The {name} is called"
            assert full in client.post("/recall", json={"query": query}).json()["text"]
            memstore = client.get("/v1/memory/recall", params={"q": query}).json()
            assert memstore["memories"][0]["content"].startswith(full)
            assert book.recall(query).hits[0].memory.text.startswith(full)


def test_what_is_forgotten_through_one_is_gone_from_all(served: Served, at: str, space: str) -> None:
    with talking(at) as client:
        id = client.post("/v1/memory/remember", json={"content": "The parrot is called Coco"}).json()["id"]
        assert client.delete(f"/memories/{id}").status_code == 200
        assert client.get("/v1/memory/list").json() == {"memories": [], "total": 0}
    assert not served.book(space).list().memories


def test_content_that_is_no_text_is_told_as_text(served: Served, at: str, space: str) -> None:
    book = served.book(space)
    book.remember({"parrot": "Coco"})
    book.remember(b"\x89PNG", text="A drawing of a parrot", mime="image/png")
    with talking(at) as client:
        for path in ("/v1/memory/list", "/memories"):
            contents = [each["content"] for each in client.get(path).json()["memories"]]
            assert contents[0] == "A drawing of a parrot"
            assert "Coco" in contents[1]


def test_a_dialect_without_a_space_speaks_of_the_servers_own(served: Served) -> None:
    with talking(served.url) as client:
        client.put("/memory/at-home/k", json={"value": "v"})
    assert served.book("default").kv("at-home").get("k") == "v"


def test_the_dialects_are_not_in_the_description_of_the_native_api(served: Served) -> None:
    with talking(served.url) as client:
        paths = client.get("/openapi.json").json()["paths"]
    assert not [path for path in paths if path.startswith(("/memory", "/spaces", "/v1/memory", "/recall", "/api"))]
