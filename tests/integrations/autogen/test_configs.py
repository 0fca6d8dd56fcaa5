"""Configs of AutoGen's own memories are read field by field."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any, Literal

import pytest
from autogen_core.memory import MemoryContent, MemoryMimeType
from pydantic import BaseModel, Field

import commonplace
from commonplace.integrations.autogen import CommonplaceMemory
from commonplace.values import Scope, Within
from tests.integrations.autogen.scripted import text


# The fields of RedisMemoryConfig, whose module cannot be imported without redisvl.
class RedisMemoryConfig(BaseModel):
    redis_url: str = "redis://localhost:6379"
    index_name: str = "chat_history"
    prefix: str = "memory"
    sequential: bool = False
    distance_metric: Literal["cosine", "ip", "l2"] = "cosine"
    algorithm: Literal["flat", "hnsw"] = "flat"
    top_k: int = 10
    datatype: str = "float32"
    distance_threshold: float = 0.7
    model_name: str = "sentence-transformers/all-mpnet-base-v2"


class Embedding(BaseModel):
    function_type: str = "default"


class ChromaConfig(BaseModel):
    """The fields of PersistentChromaDBVectorMemoryConfig, whose module cannot be imported without chromadb."""

    client_type: str = "persistent"
    collection_name: str = "memory_store"
    distance_metric: str = "cosine"
    k: int = 3
    score_threshold: float | None = None
    allow_reset: bool = False
    tenant: str = "default_tenant"
    database: str = "default_database"
    embedding_function_config: Embedding = Field(default_factory=Embedding)
    persistence_path: str = "./chroma_db"


def config(memory: CommonplaceMemory) -> dict[str, Any]:
    return memory.dump_component().config


@pytest.mark.parametrize("how", ["object", "mapping", "fields"])
def test_a_redis_config_is_taken_field_by_field(book: commonplace.Book, tmp_path: Path, how: str) -> None:
    given = RedisMemoryConfig(index_name="ferries", top_k=2, sequential=True, algorithm="hnsw")
    fields = given.model_dump()
    where = tmp_path / "team.db"
    memory = {
        "object": lambda: CommonplaceMemory.from_redis_config(given, where=where),
        "mapping": lambda: CommonplaceMemory.from_redis_config(fields, where=where),
        "fields": lambda: CommonplaceMemory.from_redis_config(where=where, **fields),
    }[how]()
    assert (config(memory)["space"], config(memory)["k"], config(memory)["order"]) == ("ferries", 2, "time")

    async def main() -> None:
        for number in range(3):
            await memory.add(MemoryContent(content=f"Boat {number}", mime_type=MemoryMimeType.MARKDOWN))
        assert [each.content for each in (await memory.query("", sequential=True, top_k=2)).results] == [
            "Boat 1", "Boat 2",
        ]  # fmt: skip
        await memory.close()
        assert len(book.in_space("ferries").list()) == 3

    asyncio.run(main())


def test_a_chromadb_config_keeps_its_directory_and_its_collections_apart(tmp_path: Path) -> None:
    async def main() -> None:
        path = str(tmp_path / "chroma")
        here = CommonplaceMemory.from_chromadb_config(ChromaConfig(persistence_path=path, collection_name="prefs", k=1))
        there = CommonplaceMemory.from_chromadb_config(
            ChromaConfig(persistence_path=path, collection_name="prefs", tenant="acme")
        )
        assert config(here) == {**config(here), "where": f"{path}/commonplace.db", "space": "prefs", "k": 1}
        assert config(there)["space"] == "acme/prefs"
        await here.add(text("Prefers window seats", category="travel"))
        await here.add(text("Prefers oat milk", category="food"))
        found = (await here.query("preferences: prefers", n_results=5, where={"category": "food"}, threshold=0)).results
        assert [each.content for each in found] == ["Prefers oat milk"]
        either = {"$or": [{"category": "food"}, {"category": {"$eq": "travel"}}]}
        assert len((await here.query("prefers", where=either, k=5, threshold=0)).results) == 2
        assert (await there.query("prefers", threshold=0)).results == []
        await here.close()
        await there.close()

    asyncio.run(main())


def test_a_mem0_config_gives_each_user_their_own(book: commonplace.Book) -> None:
    async def main() -> None:
        ana = CommonplaceMemory.from_mem0_config({"user_id": "ana", "limit": 5, "is_cloud": False}, where=book)
        bo = CommonplaceMemory.from_mem0_config(where=book, user_id="bo", is_cloud=True, api_key="m0-key")
        for memory in (ana, bo):
            await memory.add(MemoryContent(content="User likes the colour blue.", mime_type="text/plain"))
        assert len((await ana.query("Which colour does the user like?", limit=3)).results) == 1
        assert {each.scope for each in book.list()} == {Scope(user="ana"), Scope(user="bo")}
        assert config(ana)["within"] == {"users": ("ana",), "shared": False}
        assert config(bo)["k"] == 10
        assert "m0-key" not in str(config(bo))
        await ana.clear()
        assert [each.scope.user for each in book.list(within=Within())] == ["bo"]

    asyncio.run(main())


@pytest.mark.parametrize(
    "make",
    [
        lambda where: CommonplaceMemory.from_redis_config(where=where, distance_threshold=0.3),
        lambda where: CommonplaceMemory.from_redis_config(where=where, model_name="other"),
        lambda where: CommonplaceMemory.from_chromadb_config(where=where, score_threshold=0.8),
        lambda where: CommonplaceMemory.from_chromadb_config(
            ChromaConfig(embedding_function_config=Embedding(function_type="openai")), where=where
        ),
    ],
)
def test_a_choice_that_cannot_carry_over_raises_a_warning(book: commonplace.Book, make: Any) -> None:
    with pytest.warns(UserWarning, match="does not carry over"):
        make(book.in_space("chat_history") if "redis" in make.__code__.co_names[1] else book.in_space("memory_store"))


def test_an_unknown_field_is_refused(book: commonplace.Book) -> None:
    with pytest.raises(commonplace.InvalidInput, match="unknown field 'top'"):
        CommonplaceMemory.from_redis_config(where=book, top=3)
    with pytest.raises(commonplace.InvalidInput, match="config object"):
        CommonplaceMemory.from_redis_config(7, where=book)


def test_the_default_book_is_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMMONPLACE_BOOK", str(tmp_path / "env.db"))
    assert config(CommonplaceMemory.from_mem0_config())["where"] == str(tmp_path / "env.db")
    monkeypatch.delenv("COMMONPLACE_BOOK")
    assert config(CommonplaceMemory.from_mem0_config())["where"] == "commonplace.db"


@pytest.mark.clients
@pytest.mark.parametrize(
    ("module", "name", "make"),
    [
        ("redis", "RedisMemoryConfig", CommonplaceMemory.from_redis_config),
        ("chromadb", "PersistentChromaDBVectorMemoryConfig", CommonplaceMemory.from_chromadb_config),
        ("chromadb", "HttpChromaDBVectorMemoryConfig", CommonplaceMemory.from_chromadb_config),
        ("mem0", "Mem0MemoryConfig", CommonplaceMemory.from_mem0_config),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_real_config_objects_are_accepted(tmp_path: Path, module: str, name: str, make: Any) -> None:
    upstream = importlib.import_module(f"autogen_ext.memory.{module}")
    make(getattr(upstream, name)(), where=tmp_path / "team.db")
