"""Defects 9 to 11 and 13 on AutoGen's own classes for Chroma, Redis and Mem0. What ours does is in test_defects.py.

The packages that they need are those of requirements/clients/autogen-memories.txt; no service is called.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from pathlib import Path
from typing import Any

import pytest
from autogen_core import CancellationToken
from autogen_core.memory import Memory, MemoryContent, MemoryMimeType

from tests.integrations.autogen.scripted import text

pytestmark = pytest.mark.clients

QUESTION = "When does the ferry leave?"


def slow(texts: list[str]) -> list[list[float]]:
    time.sleep(0.2)
    return [[float(len(each)), 1.0, 0.0] for each in texts]


class Embedding:
    """An embedding function for Chroma that downloads nothing."""

    def __call__(self, input: list[str]) -> list[list[float]]:
        return slow(input)

    def name(self) -> str:
        return "slow"

    def get_config(self) -> dict[str, Any]:
        return {}

    def embed_query(self, input: list[str]) -> list[list[float]]:
        return slow(input)

    def is_legacy(self) -> bool:
        return False

    def default_space(self) -> str:
        return "cosine"

    def supported_spaces(self) -> list[str]:
        return ["cosine", "l2", "ip"]


def chroma(path: Path) -> Any:
    upstream = importlib.import_module("autogen_ext.memory.chromadb")
    embedding = upstream.CustomEmbeddingFunctionConfig(function=Embedding, params={})
    return upstream.ChromaDBVectorMemory(
        upstream.PersistentChromaDBVectorMemoryConfig(persistence_path=str(path), embedding_function_config=embedding)
    )


@pytest.mark.filterwarnings("ignore")
def test_09_chroma_loses_types_and_its_own_config(tmp_path: Path) -> None:
    async def main() -> None:
        memory = chroma(tmp_path)
        await memory.add(text("The ferry leaves at noon"))
        (found,) = (await memory.query(QUESTION)).results
        assert found.mime_type == "MemoryMimeType.TEXT"
        with pytest.raises(ValueError, match="Unsupported content type"):
            await memory.add(found)
        with pytest.raises(ValueError, match="Unsupported content type"):
            await memory.add(MemoryContent(content="x", mime_type="text/plain"))
        await memory.add(MemoryContent(content={"Owner": "Marta"}, mime_type=MemoryMimeType.JSON))
        assert "{'owner': 'marta'}" in [each.content for each in (await memory.query("owner")).results]
        upstream = importlib.import_module("autogen_ext.memory.chromadb")
        config = upstream.PersistentChromaDBVectorMemoryConfig(persistence_path=str(tmp_path))
        loaded = Memory.load_component(upstream.ChromaDBVectorMemory(config).dump_component())
        with pytest.raises(ValueError, match="Unsupported config type"):
            await loaded.query(QUESTION)

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore")
def test_13_chroma_embeds_on_the_loops_thread(tmp_path: Path) -> None:
    async def main() -> None:
        memory = chroma(tmp_path)
        beats = 0
        adding = asyncio.create_task(memory.add(text("The ferry leaves at noon")))
        while not adding.done():
            beats += 1
            await asyncio.sleep(0.001)
        assert beats == 1, "the loop stood still"

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore")
def test_10_redis_names_a_module_that_is_not_there() -> None:
    upstream = importlib.import_module("autogen_ext.memory.redis").RedisMemory
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(upstream.component_provider_override.rpartition(".")[0])
    with pytest.raises(NotImplementedError):
        upstream._to_config(object.__new__(upstream))


@pytest.mark.filterwarnings("ignore")
def test_11_mem0_cannot_take_a_token() -> None:
    upstream = importlib.import_module("autogen_ext.memory.mem0").Mem0Memory
    memory = object.__new__(upstream)  # its constructor asks a service
    with pytest.raises(AttributeError, match="cancelled"):
        asyncio.run(memory.add(text("The ferry leaves at noon"), CancellationToken()))
