"""Keys over HTTP, for admin keys. A key can do nothing here that exceeds its own rights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from commonplace import wire
from commonplace.access import keys
from commonplace.memories.core import Core
from commonplace.server.api.routes import JSON, Name, Route
from commonplace.server.auth import Caller, read_call
from commonplace.server.door import Door
from commonplace.server.problems import PROBLEMS

router = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=Route, responses=PROBLEMS)


class KeyBody(BaseModel):
    """A key to make."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"role": "write", "spaces": ["team-a"], "label": "the build agents"}]},
    )

    role: Literal["read", "write", "admin"] = "write"
    spaces: list[str] = Field(default=["default"], description='names of spaces, or patterns such as "agents-*"')
    home: str | None = Field(default=None, description="the space of dialects that name none")
    label: str = ""
    plan: str = "unlimited"
    limits: dict[str, int | float] = Field(default={}, description="limits that go before the plan's")
    expires: float | None = Field(default=None, description="seconds for which it is good; null is for ever")


class RotationBody(BaseModel):
    """How to change a key's secret."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"grace": 3600}]})

    grace: float = Field(default=0, description="seconds for which the old secret is good, too")


@router.get("")
async def list_keys(request: Request) -> Response:
    """Return the keys that this one may manage, revoked ones too."""
    return await _answer(request, keys.list_keys, key="keys")


@router.post("", status_code=201)
async def create_key(request: Request, body: KeyBody) -> Response:
    """Create a key. Its token is in this answer and nowhere else."""
    return await _answer(request, keys.create, status=201, **body.model_dump())


@router.post("/{id}/rotate")
async def rotate_key(request: Request, id: Name, rotation: RotationBody | None = None) -> Response:
    """Give a key a new secret. Its token is in this answer and nowhere else."""
    return await _answer(request, keys.rotate, id, grace=0 if rotation is None else rotation.grace)


@router.delete("/{id}")
async def revoke_key(request: Request, id: Name) -> Response:
    """Revoke a key for good, at once and everywhere."""
    return await _answer(request, keys.revoke, id)


@router.get("/{id}/usage")
async def key_usage(request: Request, id: Name, space: str | None = None, namespace: str | None = None) -> Response:
    """Return how much of each of its limits a key has used."""
    return await _answer(request, keys.usage, id, key="usage", space=space, namespace=namespace)


async def _answer(
    request: Request, verb: Callable[..., object], *parts: str, key: str = "", status: int = 200, **options: Any
) -> Response:
    """Run a verb of keys for the key of the request; `key` is the field of the answer that holds the result."""

    def work(core: Core, caller: Caller) -> bytes:
        result = verb(core.store, *parts, **options, by=caller.key)
        return wire.dumps({key: result} if key else result)

    door: Door = request.app.state.door
    body = await door.run_on_core(read_call(request, "admin", "admin"), work)
    # No cache may keep a token.
    return Response(body, status, headers={"Cache-Control": "no-store"}, media_type=JSON)
