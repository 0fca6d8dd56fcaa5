"""Requests that try to reach another space: every route and dialect, with names, ids and paths of other spaces."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from probe_world import HANDLES, OWN, VICTIMS, Holder, Known, World, signature

from commonplace.server.auth import decode_name

LINES = "application/x-ndjson"


@dataclass(frozen=True)
class Probe:
    """One request, and the response that it must not get."""

    route: str
    holder: Holder
    method: str
    path: str
    query: str = ""
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    space: str | None = None
    """The space that its path names; None: the home of the key."""

    @property
    def allowed(self) -> bool:
        """Whether the key opens the space that is asked for."""
        named = self.holder.home if self.space is None else self.space
        if self.route.endswith("/v1/agents"):
            return True  # a new key gets a space that no other key has
        if not self.holder.admitted:
            return False
        return named in self.holder.spaces or (self.holder.name in ("fleet", "keeper") and named.startswith("agents-"))

    @property
    def sent(self) -> bytes:
        """Return the text of the request, which an answer may quote."""
        heads = "".join(f"{name}{value}" for name, value in self.headers.items())
        return f"{self.path}?{self.query}{heads}".encode() + self.body


class Prober:
    """Makes probes, the same ones for the same seed."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._random = random.Random(seed)
        self._number = 0
        self._routes = _routes()

    def next(self) -> Probe:
        """Another probe."""
        self._number += 1
        admitted = self._random.random() < 0.9
        holder = self._random.choice([each for each in self._world.holders if each.admitted is admitted])
        name, method, path, made = self._random.choice(self._routes)
        asked = _Asked(self._world, self._random, holder, self._number)
        native = path.startswith("/v1/spaces/")
        place, space = asked.space(needed=native)
        filled = path.replace("/v1/spaces/{space}", place) if native else self._prefixed(path, place, name)
        if not native and not place:
            space = None
        if path.startswith(("/v1/keys", "/metrics", "/v1/agents")):
            filled, space = path, None
        for part in ("id", "namespace", "key", "canvas", "path", "session", "channel", "job", "keyid"):
            if f"{{{part}}}" in filled:
                filled = filled.replace(f"{{{part}}}", asked.part(part))
        query, body, headers = made(asked)
        return Probe(
            route=f"{method} {path}",
            holder=holder,
            method=method,
            path=filled,
            query=asked.strayed(query),
            body=body,
            headers={**asked.key(), **asked.conditions(method), **headers},
            space=space,
        )

    def _prefixed(self, path: str, place: str, name: str) -> str:
        alias = self._random.choice(("", "/v1", "/api")) if name == "zerolatency" else ""
        return f"{place}{alias}{path}"


class _Asked:
    """The choices of one probe."""

    def __init__(self, world: World, chance: random.Random, holder: Holder, number: int) -> None:
        self.world, self.random, self.holder = world, chance, holder
        others = [space for space in (*OWN, *VICTIMS) if space not in holder.spaces]
        self.other: Known = world.known[chance.choice(others)]
        self.own: Known = world.known[chance.choice(holder.spaces or OWN)]
        self.mark = f"{signature(holder)}{number}"

    # -- where ---------------------------------------------------------------------------------------

    def space(self, *, needed: bool) -> tuple[str, str | None]:
        """The beginning of a path, and the space that it names."""
        prefix = "/v1/spaces" if needed else "/spaces"
        if not needed and self.random.random() < 0.4:
            return "", None
        if self.random.random() < 0.55:
            segment = quote(self.own.space, safe="")
        else:
            segment = self.random.choice(_SEGMENTS)(self.own.space, self.other.space)
        return f"{prefix}/{segment}", decode_name(segment)

    def part(self, part: str) -> str:
        """A part of a path."""
        named = getattr(self, f"_{part}")()
        way = self.random.randrange(14)
        if way == 0:
            return quote(quote(named, safe=""), safe="")
        if way == 1 and part in ("key", "path"):
            return f"../../{quote(self.other.space, safe='')}/{HANDLES['namespace']}/{quote(named)}"
        if way == 2:
            return f"..%2f..%2f{quote(self.other.space, safe='')}%2f{quote(named, safe='')}"
        if way == 3:
            return f"%2e%2e%2f{quote(named, safe='')}"
        if way == 4:
            return quote(f"{self.other.space}:{named}", safe="")
        return quote(named, safe="")

    def _id(self) -> str:
        return self.id()

    def id(self) -> str:
        """A memory's id, mostly of another space."""
        pick = self.random.random()
        if pick < 0.5:
            return self.random.choice(self.other.ids)
        return self.random.choice(self.own.ids) if pick < 0.95 else f"{self.random.getrandbits(128):032x}"

    def ids(self) -> list[str]:
        """Several."""
        return [self.id() for _ in range(self.random.randint(1, 3))]

    def receipt(self) -> str:
        """A memory's id, or the receipt of a recall."""
        return self.random.choice([*self.other.receipts, *self.own.receipts, self.id()])

    def session(self) -> str:
        """A session that others have, too."""
        return self.random.choice([*self.other.sessions, *self.own.sessions])

    def cursor(self) -> str | None:
        """A cursor of a listing, mostly of another space."""
        return self.random.choice([None, *self.own.cursors, *self.other.cursors, *self.other.cursors])

    def _namespace(self) -> str:
        return self.random.choice((HANDLES["namespace"], "botwire/agents", f"../{self.other.space}/shelf", "*", "%"))

    def _key(self) -> str:
        return self.random.choice((HANDLES["key"], "news", f"../{self.other.space}/note", "%", "_ote"))

    def _canvas(self) -> str:
        return self.random.choice((HANDLES["canvas"], HANDLES["canvas"], f"../{self.other.space}/plan", "%"))

    def _path(self) -> str:
        return self.random.choice((HANDLES["path"], HANDLES["path"], f"a/{HANDLES['path']}", "%"))

    def _session(self) -> str:
        return self.random.choice((self.session(), "botwire/channels/news", "%"))

    def _channel(self) -> str:
        return self.random.choice(("news", f"../{self.other.space}/news", "../channels/news", "%"))

    def _job(self) -> str:
        return self.random.choice((self.session(), str(self.random.choice(self.other.jobs or [1])), self.id()))

    def _keyid(self) -> str:
        given = self.random.choice([each for each in self.world.holders if each.token]).token
        assert given is not None
        return given.split("_")[1]

    # -- who -----------------------------------------------------------------------------------------

    def key(self) -> dict[str, str]:
        """The header with the key, in one of the ways; the name that comes with Basic is another space's."""
        if self.holder.token is None:
            return {}
        way = self.random.randrange(4)
        if way == 0:
            return {"x-api-key": self.holder.token}
        if way == 1:
            user = self.random.choice((self.other.space, "root", "", "*"))
            return {"authorization": "Basic " + base64.b64encode(f"{user}:{self.holder.token}".encode()).decode()}
        return {"authorization": f"Bearer {self.holder.token}"}

    def conditions(self, method: str) -> dict[str, str]:
        """Names of requests, versions, and headers by which other services choose a space."""
        found = {}
        if method != "GET" and self.random.random() < 0.25:
            found["idempotency-key"] = f"once-{self.random.randrange(40)}"
        if method in ("PUT", "PATCH", "DELETE") and self.random.random() < 0.2:
            found["if-match"] = f'"{self.random.randint(1, 3)}"'
        if self.random.random() < 0.1:
            stray = self.random.choice(
                ("x-space", "x-tenant-id", "x-original-url", "x-rewrite-url", "x-forwarded-prefix")
            )
            found[stray] = quote(f"/v1/spaces/{self.other.space}")
        return found

    def strayed(self, query: dict[str, Any]) -> str:
        """A query, sometimes with a space other than that of the path."""
        given = {name: value for name, value in query.items() if value is not None}
        if self.random.random() < 0.1:
            given[self.random.choice(("space", "home", "namespace", "tenant"))] = self.other.space
        return urlencode(given, doseq=True)

    # -- what ----------------------------------------------------------------------------------------

    def within(self) -> dict[str, Any]:
        """Somewhere to look."""
        names = [self.other.space, self.session(), "*", "%"]
        return {"users": [self.random.choice(names)], "sessions": [self.random.choice(names)], "shared": True}

    def filter(self) -> dict[str, Any]:
        """A filter that tries to exceed its limits."""
        return self.random.choice(_FILTERS)(self)

    def selected(self) -> dict[str, Any]:
        """Memories, chosen in one of the ways."""
        return self.random.choice(
            (
                lambda: {"ids": self.ids()},
                lambda: {"filter": self.filter()},
                lambda: {"tags": ["secret"], "filter": {"metadata.number": self.random.randint(0, 3)}},
                lambda: {"scope": {"session": self.session()}},
            )
        )()


_SEGMENTS: tuple[Callable[[str, str], str], ...] = (
    lambda own, other: quote(other, safe=""),
    lambda own, other: quote(quote(other, safe=""), safe=""),
    lambda own, other: quote(f"{own}/../{other}", safe=""),
    lambda own, other: f"{quote(own)}%2f..%2f{quote(other, safe='')}",
    lambda own, other: f"%2e%2e%2f{quote(other, safe='')}",
    lambda own, other: quote(f"{own}\0{other}", safe=""),
    lambda own, other: quote(f"{own} ", safe=""),
    lambda own, other: quote(own.upper(), safe=""),
    lambda own, other: quote(f"{own},{other}", safe=""),
    lambda own, other: quote(f"{own}' OR name = '{other}", safe=""),
    lambda own, other: quote("".join(chr(ord(each) + 0xFEE0) if "a" <= each <= "z" else each for each in own)),
    lambda own, other: "*",
    lambda own, other: "%25",
    lambda own, other: "%ff",
    lambda own, other: quote("commonplace:planted"),
)

_FILTERS: tuple[Callable[[_Asked], dict[str, Any]], ...] = (
    lambda asked: {"id": asked.id()},
    lambda asked: {"id": {"$in": asked.ids()}},
    lambda asked: {"space": asked.other.space},
    lambda asked: {"$or": [{"metadata.number": {"$gte": 0}}, {"user": {"$ne": asked.own.space}}]},
    lambda asked: {"$not": {"metadata.number": 99}},
    lambda asked: {"metadata.owner": {"$exists": True}},
    lambda asked: {"metadata.owner' OR 1=1 --": {"$exists": False}},
    lambda asked: {"metadata.number": {"$lte": 10}, "kind": "note"},
    lambda asked: {"text": {"$contains": "password"}},
)

_Made = tuple[dict[str, Any], bytes, dict[str, str]]
_JSON = {"content-type": "application/json"}


def _nothing(asked: _Asked) -> _Made:
    return {}, b"", {}


def _query(**given: Callable[[_Asked], Any]) -> Callable[[_Asked], _Made]:
    return lambda asked: ({name: value(asked) for name, value in given.items()}, b"", {})


def _body(made: Callable[[_Asked], dict[str, Any]], **query: Callable[[_Asked], Any]) -> Callable[[_Asked], _Made]:
    def whole(asked: _Asked) -> _Made:
        body = made(asked)
        if asked.random.random() < 0.03:
            body["space"] = asked.other.space
        return {name: value(asked) for name, value in query.items()}, json.dumps(body).encode(), _JSON

    return whole


def _import(asked: _Asked) -> _Made:
    header = {"type": "header", "commonplace": 1, "space": asked.other.space, "at": "2026-05-04T09:30:00Z"}
    entry = {
        "type": "entry", "namespace": "shelf", "key": asked.mark, "value": asked.mark,
        "version": 1, "updated_at": "2026-05-04T09:30:00Z", "expires_at": None,
    }  # fmt: skip
    return {}, "".join(json.dumps(each) + "\n" for each in (header, entry)).encode(), {"content-type": LINES}


def _patch(asked: _Asked) -> str:
    path = HANDLES["path"]
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-once upon a {asked.own.marker}\n+{asked.mark}\n"


def _wanted(asked: _Asked) -> dict[str, Any]:
    spaces = asked.random.choice(([asked.other.space], ["*"], ["a*"], [f"{asked.own.space}*"], [asked.own.space]))
    return {"role": asked.random.choice(("read", "write", "admin")), "spaces": spaces, "label": asked.mark}


def _routes() -> list[tuple[str, str, str, Callable[[_Asked], _Made]]]:
    native = [("native", method, f"/v1/spaces/{{space}}{path}", made) for method, path, made in _NATIVE]
    others = [
        (dialect, method, path, made)
        for dialect, routes in (("zerolatency", _ZEROLATENCY), ("memstore", _MEMSTORE), ("botwire", _BOTWIRE))
        for method, path, made in routes
    ]
    return [*native, *others, *(("book", method, path, made) for method, path, made in _BOOK)]


_Routes = list[tuple[str, str, Callable[[_Asked], _Made]]]
_said = _body(lambda asked: {"messages": [{"content": asked.mark, "name": "x"}]})
_NATIVE: _Routes = [
    (
        "POST", "/recall",
        _body(lambda asked: {
            "query": "which password?", "threshold": 0.0, "k": 50, "superseded": True,
            **asked.random.choice(({}, {"filter": asked.filter()}, {"within": asked.within()}, {"tags": ["secret"]})),
        }),
    ),
    ("POST", "/feedback", _body(lambda asked: {"target": asked.receipt(), "signal": "wrong"})),
    ("GET", "/memories", _query(
        cursor=lambda asked: asked.cursor(), limit=lambda asked: 100, superseded=lambda asked: "true",
        filter=lambda asked: json.dumps(asked.filter()),
        tags=lambda asked: asked.random.choice((None, ["secret", "%"])),
    )),
    ("POST", "/memories/list", _body(lambda asked: {"cursor": asked.cursor(), "within": asked.within(), "limit": 50})),
    ("POST", "/memories/list", _body(lambda asked: {"filter": asked.filter(), "superseded": True})),
    ("POST", "/memories", _body(lambda asked: {
        "content": asked.mark,
        **asked.random.choice(({}, {"id": asked.id()}, {"supersedes": asked.ids()}, {"reconcile": True})),
    })),
    ("POST", "/memories/batch", _body(lambda asked: {
        "memories": [{"content": asked.mark, "id": asked.id()}, {"content": asked.mark, "supersedes": asked.ids()}],
    })),
    ("POST", "/memories/forget", _body(lambda asked: {**asked.selected(), "dry_run": asked.random.random() < 0.5})),
    ("POST", "/memories/prune", _body(lambda asked: {"older_than": 1e6, "dry_run": asked.random.random() < 0.5})),
    ("POST", "/memories/quarantine", _body(lambda asked: {**asked.selected(), "reason": asked.mark})),
    ("POST", "/memories/release", _body(lambda asked: asked.selected())),
    ("GET", "/memories/{id}", _query(version=lambda asked: asked.random.choice((None, None, 1, 2)))),
    ("PATCH", "/memories/{id}", _body(lambda asked: {"content": asked.mark, "reason": asked.mark})),
    ("DELETE", "/memories/{id}", _nothing),
    ("GET", "/memories/{id}/history", _nothing),
    ("GET", "/memories/{id}/links", _nothing),
    ("POST", "/memories/{id}/undo", _body(lambda asked: {"other": asked.id()})),
    ("POST", "/learn", _body(lambda asked: {
        "messages": [{"content": asked.mark}], "session": asked.session(), "wait": asked.random.random() < 0.2,
    })),
    ("GET", "/jobs", _nothing),
    ("POST", "/jobs/work", _body(lambda asked: {"hurry": True})),
    ("POST", "/jobs/retry", _body(lambda asked: {"number": asked.random.choice([*asked.other.jobs, 1])})),
    ("GET", "/kv", _nothing),
    ("GET", "/kv/{namespace}", _query(prefix=lambda asked: asked.random.choice(("", "%", "n", "../")))),
    ("GET", "/kv/{namespace}/{key}", _nothing),
    ("PUT", "/kv/{namespace}/{key}", _body(lambda asked: {"value": asked.mark})),
    ("POST", "/kv/{namespace}/{key}", _body(lambda asked: {"items": [asked.mark]})),
    ("DELETE", "/kv/{namespace}/{key}", _nothing),
    ("GET", "/canvases", _nothing),
    ("GET", "/canvases/{canvas}", _nothing),
    ("GET", "/canvases/{canvas}/files/{path}", _query(revision=lambda asked: asked.random.choice((None, 1, 2)))),
    ("PUT", "/canvases/{canvas}/files/{path}", _body(lambda asked: {"content": asked.mark, "author": asked.mark})),
    ("DELETE", "/canvases/{canvas}/files/{path}", _nothing),
    ("POST", "/canvases/{canvas}/patch", _body(lambda asked: {"patch": _patch(asked)})),
    ("GET", "/canvases/{canvas}/revisions/{path}", _nothing),
    ("GET", "/canvases/{canvas}/diff/{path}", _query(old=lambda asked: 1)),
    ("POST", "/canvases/{canvas}/forget", _body(lambda asked: {"path": asked._path()})),
    ("GET", "/transcripts", _nothing),
    ("GET", "/transcripts/{session}", _query(tail=lambda asked: asked.random.choice((None, 5)))),
    ("POST", "/transcripts/{session}", _said),
    ("DELETE", "/transcripts/{session}", _nothing),
    ("GET", "/stats", _nothing),
    ("GET", "/check", _query(deep=lambda asked: asked.random.choice((None, "true")))),
    ("GET", "/export", _query(vectors=lambda asked: asked.random.choice((None, "true")))),
    ("POST", "/import", _import),
    ("GET", "/backup", _nothing),
]  # fmt: skip
_ZEROLATENCY: _Routes = [
    ("POST", "/memories", _body(lambda asked: {"content": asked.mark, "agent_id": asked.other.space})),
    ("POST", "/memories/seed", _body(lambda asked: {"facts": [{"text": asked.mark}], "agent_id": asked.session()})),
    ("POST", "/recall", _body(lambda asked: {
        "query": "which password?", "limit": 50, "agent_id": asked.random.choice((None, "*", asked.other.space)),
    })),
    ("GET", "/memories/recall", _query(query=lambda asked: "password", agent_id=lambda asked: asked.other.space)),
    ("POST", "/extract", _body(lambda asked: {"content": asked.mark, "agent_id": asked.other.space})),
    ("POST", "/memories/extract", _body(lambda asked: {"human_message": asked.mark})),
    ("GET", "/extract/{job}", _nothing),
    ("GET", "/memories/extract/{job}", _nothing),
    ("GET", "/memories/search", _query(q=lambda asked: "password", agent_id=lambda asked: asked.other.space)),
    ("GET", "/memories/export", _query(agent_id=lambda asked: asked.random.choice((None, "*", asked.other.space)))),
    ("POST", "/memories/import", _body(lambda asked: {"memories": [{"id": asked.id(), "content": asked.mark}]})),
    ("GET", "/memories", _query(limit=lambda asked: 100, agent_id=lambda asked: asked.random.choice((None, "%")))),
    ("GET", "/memories/{id}", _nothing),
    ("PUT", "/memories/{id}", _body(lambda asked: {"content": asked.mark})),
    ("DELETE", "/memories/{id}", _nothing),
    ("GET", "/memories/{id}/history", _nothing),
    ("POST", "/feedback", _body(lambda asked: {"memory_id": asked.receipt(), "feedback_type": "contradicted"})),
    ("GET", "/usage", _nothing),
]  # fmt: skip
_MEMSTORE: _Routes = [
    ("POST", "/v1/memory/remember", _body(lambda asked: {"content": asked.mark, "session": asked.session()})),
    ("GET", "/v1/memory/recall", _query(
        q=lambda asked: "which password?", threshold=lambda asked: 0, limit=lambda asked: 50,
        tags=lambda asked: asked.random.choice((None, "secret", "%")),
        session=lambda asked: asked.random.choice((None, asked.session())),
    )),
    ("DELETE", "/v1/memory/forget/{id}", _nothing),
    ("GET", "/v1/memory/list", _query(
        limit=lambda asked: 200, offset=lambda asked: asked.random.choice((0, 3, 1000)),
        session=lambda asked: asked.random.choice((None, asked.session())),
    )),
    ("POST", "/v1/agents", _body(lambda asked: {"name": asked.mark})),
]  # fmt: skip
_BOTWIRE: _Routes = [
    ("PUT", "/memory/{namespace}/{key}", _body(lambda asked: {"value": asked.mark})),
    ("POST", "/memory/{namespace}/{key}/append", _body(lambda asked: {"value": asked.mark})),
    ("GET", "/memory/{namespace}/{key}", _nothing),
    ("DELETE", "/memory/{namespace}/{key}", _nothing),
    ("GET", "/memory/{namespace}", _nothing),
    ("POST", "/identity/register", _body(lambda asked: {"name": asked.mark, "capabilities": [asked.mark]})),
    ("GET", "/identity/search", _query(capability=lambda asked: asked.random.choice((None, "%", "mark")))),
    ("POST", "/channels/{channel}/create", _body(lambda asked: {"agent_id": asked.mark})),
    ("POST", "/channels/{channel}/join", _query(agent_id=lambda asked: asked.mark)),
    ("POST", "/channels/{channel}/post", _body(lambda asked: {
        "agent_id": asked.mark, "type": "data", "data": asked.mark,
    })),
    ("GET", "/channels/{channel}/messages", _query(since=lambda asked: asked.random.choice((None, 0, -1)))),
]  # fmt: skip
_BOOK: _Routes = [
    ("GET", "/v1/keys", _nothing),
    ("POST", "/v1/keys", _body(_wanted)),
    ("GET", "/v1/keys/{keyid}/usage", _query(space=lambda asked: asked.random.choice((None, asked.other.space)))),
    ("GET", "/metrics", _nothing),
]
