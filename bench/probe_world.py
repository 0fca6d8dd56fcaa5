"""A book of several spaces, each with its own marker, and keys that try to reach other spaces."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonplace.access import keys
from commonplace.errors import CommonplaceError
from commonplace.local import LocalBook
from commonplace.location import open_core
from commonplace.memories.core import Core
from commonplace.server.app import create_app
from commonplace.server.config import Config
from commonplace.store.base import Store

OWN = ("alpha", "beta", "agents-one", "agents-two")
"""Spaces that some of the keys open."""
VICTIMS = ("vault", "alpha-vault", "Alpha", "alpha/vault", "agents", "agent-one", "../vault", "b eta", "äß%41*")
"""Spaces that none of them opens, with names that lie close to those that some do."""
HANDLES = {"namespace": "shelf", "key": "note", "canvas": "plan", "path": "story.md", "session": "standup"}
"""Names that every space has, so that a probe needs to guess none; what else is named bears the marker."""


@dataclass(frozen=True)
class Holder:
    """A caller with a valid or an invalid key."""

    name: str
    token: str | None
    spaces: tuple[str, ...]
    """Those that the key opens, of OWN."""
    home: str
    admitted: bool = True


@dataclass
class Known:
    """An attacker's knowledge of a space: everything except its content."""

    space: str
    marker: str
    ids: list[str] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)


class World:
    """The book, its application, and what is known of every space."""

    def __init__(self, path: Path, seed: int) -> None:
        self.core: Core = open_core(path)
        self.app = create_app(self.core, Config(work=False, sign_up="memstore-free"))
        self._seed = seed
        self.known = {space: self._filled(space) for space in (*OWN, *VICTIMS)}
        self.markers = {known.marker.encode(): space for space, known in self.known.items()}
        self.holders = _holders(self.core.store)
        self.before = {space: self.digest(space) for space in VICTIMS}

    def refill(self) -> None:
        """Restore the content of the spaces that were written to."""
        for space in OWN:
            LocalBook(self.core, space).forget(everything=True)
            book = LocalBook(self.core, space)
            for session in book.transcripts():
                book.transcript(session).forget()
            self.known[space] = self._filled(space)

    def holds(self, space: str, id: str) -> bool:
        """Whether there is, or was, a memory of that id in a space."""
        try:
            return bool(LocalBook(self.core, space).history(id))
        except CommonplaceError:
            return False

    def digest(self, space: str) -> str:
        """Return a summary of a space's content, without the current time."""
        said = hashlib.sha256()
        for record in LocalBook(self.core, space).export(vectors=False):
            if record["type"] != "header":
                said.update(json.dumps(record, sort_keys=True).encode())
        said.update(json.dumps([job.number for job in LocalBook(self.core, space).jobs()]).encode())
        return said.hexdigest()

    def text(self, space: str) -> bytes:
        """Everything that a space holds."""
        book = LocalBook(self.core, space)
        held: list[Any] = [*book.export(), *(dict(job.payload) for job in book.jobs())]
        return json.dumps(held, ensure_ascii=False).encode()

    def broken(self) -> list[str]:
        """Describe what writes did in other spaces."""
        found = [f"{space!r} was changed" for space in VICTIMS if self.digest(space) != self.before[space]]
        for space in (*OWN, *VICTIMS):
            held = self.text(space)
            found += [
                f"{holder.name} wrote to {space!r}"
                for holder in self.holders
                if space not in holder.spaces and signature(holder).encode() in held
            ]
            found += [
                f"{space!r} holds what is of {other!r}"
                for marker, other in self.markers.items()
                if other != space and marker in held
            ]
        return found

    def _filled(self, space: str) -> Known:
        marker = "mark" + hashlib.sha256(f"{self._seed} {space}".encode()).hexdigest()[:20]
        known, book = Known(space, marker), LocalBook(self.core, space)
        for number in range(4):
            made = book.remember(
                f"The password number {number} is {marker}",
                tags=["secret", f"tag-{marker}"],
                metadata={"owner": marker, "number": number},
                source=f"file-{marker}",
            )
            known.ids.append(made.id)
        known.ids.append(book.revise(known.ids[0], content=f"The password was changed to {marker}").id)
        for namespace in (HANDLES["namespace"], f"shelf-{marker}", "botwire/agents", "botwire/channels"):
            for key in (HANDLES["key"], f"note-{marker}", "news"):
                book.kv(namespace).set(key, {"secret": marker, "capabilities": [marker], "description": marker})
        for canvas in (HANDLES["canvas"], f"plan-{marker}"):
            for path in (HANDLES["path"], f"{marker}.md"):
                book.canvas(canvas).write(path, f"once upon a {marker}\n", author=marker)
        for session in (HANDLES["session"], f"talk-{marker}", "botwire/channels/news"):
            book.transcript(session).append(f"said {marker}", role="user", name=marker, metadata={"type": "data"})
        learned = book.learn([{"role": "user", "name": marker, "content": f"I use {marker} now"}], session="learned")
        known.sessions += [learned.session, HANDLES["session"]]
        known.jobs += [job.number for job in book.jobs()]
        known.receipts.append(book.recall("which password?", threshold=0.0).receipt)
        page = book.list(limit=1)
        known.cursors += [cursor for cursor in (page.cursor,) if cursor is not None]
        return known


def signature(holder: Holder) -> str:
    """The mark on everything that a caller writes."""
    return f"written-by-{holder.name}-"


def _holders(store: Store) -> list[Holder]:
    def made(name: str, role: str, spaces: list[str], home: str, **more: Any) -> Holder:
        new = keys.create(store, role=role, spaces=spaces, home=home, label=name, **more)
        opened = tuple(space for space in (*OWN, *VICTIMS) if new.key.opens(space))
        assert not set(opened) & set(VICTIMS), opened
        return Holder(name, new.token, opened, home)

    reader = made("reader", "read", ["alpha"], "alpha")
    revoked = made("revoked", "admin", ["alpha"], "alpha")
    rotated = made("rotated", "admin", ["beta"], "beta")
    assert revoked.token is not None
    assert rotated.token is not None
    keys.revoke(store, revoked.token.split("_")[1])
    keys.rotate(store, rotated.token.split("_")[1])
    assert reader.token is not None
    none = [Holder(each.name, each.token, (), each.home, admitted=False) for each in (revoked, rotated)]
    return [
        reader,
        made("writer", "write", ["alpha"], "alpha"),
        made("admin", "admin", ["alpha"], "alpha"),
        made("fleet", "write", ["agents-*"], "agents-one"),
        made("keeper", "admin", ["agents-*"], "agents-two"),
        made("both", "write", ["beta", "agents-two"], "beta"),
        made("limited", "write", ["beta"], "beta", limits={"operations_month": 10**9, "memories": 10**9, "rate": 1e5}),
        *none,
        Holder("stranger", None, (), "default", admitted=False),
        Holder("guesser", reader.token[:-1] + ("a" if reader.token[-1] != "a" else "b"), (), "alpha", admitted=False),
    ]
