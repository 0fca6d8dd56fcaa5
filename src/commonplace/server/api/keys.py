"""Keys over HTTP, for admin keys: nothing that the key itself may not do."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from commonplace import wire
from commonplace.access import keys
from commonplace.server.api.answering import PROBLEMS, Route
from commonplace.server.asking import host, secret
from commonplace.server.callers import Ask
from commonplace.server.door import Door
from commonplace.server.paths import Name

router = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=Route, responses=PROBLEMS)


async def _ask(request: Request) -> Ask:
    return Ask(secret=secret(request), host=host(request), space=None, role="admin", operation="admin")


Admin = Annotated[Ask, Depends(_ask)]


class Wanted(BaseModel):
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


class Rotation(BaseModel):
    """How to change a key's secret."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"grace": 3600}]})

    grace: float = Field(default=0, description="seconds for which the old secret is good, too")


@router.get("", operation_id="list_keys")
async def everything(request: Request, ask: Admin) -> Response:
    """The keys that this one may look after, revoked ones too."""
    door: Door = request.app.state.door
    return _told(
        await door.run_as(ask, lambda core, caller: wire.dumps({"keys": keys.everything(core.store, by=caller.key)}))
    )


@router.post("", status_code=201, operation_id="create_key")
async def create(request: Request, ask: Admin, wanted: Wanted) -> Response:
    """Make a key. Its token is in this answer and nowhere else."""
    door: Door = request.app.state.door
    asked = wanted.model_dump()
    made = await door.run_as(ask, lambda core, caller: wire.dumps(keys.create(core.store, **asked, by=caller.key)))
    return _told(made, 201)


@router.post("/{id}/rotate", operation_id="rotate_key")
async def rotate(request: Request, ask: Admin, id: Name, rotation: Rotation | None = None) -> Response:
    """Give a key a new secret. Its token is in this answer and nowhere else."""
    door: Door = request.app.state.door
    grace = 0 if rotation is None else rotation.grace
    made = await door.run_as(
        ask, lambda core, caller: wire.dumps(keys.rotate(core.store, id, grace=grace, by=caller.key))
    )
    return _told(made)


@router.delete("/{id}", operation_id="revoke_key")
async def revoke(request: Request, ask: Admin, id: Name) -> Response:
    """End a key for good, at once and everywhere."""
    door: Door = request.app.state.door
    return _told(await door.run_as(ask, lambda core, caller: wire.dumps(keys.revoke(core.store, id, by=caller.key))))


@router.get("/{id}/usage", operation_id="key_usage")
async def usage(
    request: Request, ask: Admin, id: Name, space: str | None = None, namespace: str | None = None
) -> Response:
    """What a key has used of each of its limits."""
    door: Door = request.app.state.door
    found = await door.run_as(
        ask,
        lambda core, caller: wire.dumps(
            {"usage": keys.usage(core.store, id, space=space, namespace=namespace, by=caller.key)}
        ),
    )
    return _told(found)


def _told(body: bytes, status: int = 200) -> Response:
    # A token must not lie in any cache on its way.
    return Response(body, status, headers={"Cache-Control": "no-store"}, media_type="application/json")
