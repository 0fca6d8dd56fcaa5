"""Key-value state: JSON values under names, with versions, time to live and compare-and-set."""

from __future__ import annotations

from abc import ABC, abstractmethod

from commonplace.memories.core import Place
from commonplace.settings import Settings
from commonplace.store.base import Store, Tx
from commonplace.store.tables import entries
from commonplace.values import Entry, Json, Scope, checks, times


class KeyValue(ABC):
    """One namespace of a space's key-value entries. Made by `Book.kv`."""

    def get(self, key: str, default: Json = None) -> Json:
        """Return the value of a key, or `default` if it has none."""
        entry = self.entry(key)
        return default if entry is None else entry.value

    @abstractmethod
    def entry(self, key: str) -> Entry | None:
        """Return a value with its version and times, or None."""

    @abstractmethod
    def set(
        self,
        key: str,
        value: Json,
        *,
        ttl: float | None = None,
        if_version: int | None = None,
        scope: Scope | None = None,
    ) -> Entry:
        """Set a value; when this returns it is on disk. `if_version=0` sets it only if the key has none.

        `scope` is whom the entry belongs to: it is erased and exported with that person. Without one, an entry keeps
        its owner, and a new one belongs to nobody.
        """

    @abstractmethod
    def delete(self, key: str, *, if_version: int | None = None) -> bool:
        """Delete a value; return False if there was none."""

    @abstractmethod
    def keys(self, prefix: str = "") -> list[str]:
        """Return the keys that begin with `prefix`, sorted."""

    @abstractmethod
    def append(self, key: str, *items: Json, scope: Scope | None = None) -> Entry:
        """Add items to the end of a list in one step, creating the list if there is none.

        Concurrent appends are all kept, and so is a time to live. `scope` is as in `set`.
        """


class LocalKeyValue(KeyValue):
    """Key-value entries in a store that this process has opened."""

    def __init__(self, store: Store, place: Place, namespace: str, settings: Settings) -> None:
        self._store = store
        self._place = place
        self._namespace = checks.name(namespace, "namespace")
        self._limit = settings.max_content_bytes

    def entry(self, key: str) -> Entry | None:
        space, name = self._place.find(), checks.name(key, "key")
        return self._store.read(lambda tx: entries.get(tx, space, self._namespace, name, now=times.now()), space)

    def set(
        self,
        key: str,
        value: Json,
        *,
        ttl: float | None = None,
        if_version: int | None = None,
        scope: Scope | None = None,
    ) -> Entry:
        space, name, now = self._place.make(), checks.name(key, "key"), times.now()
        owner = checks.owner(scope)
        text = checks.json_text(value, "value", limit=self._limit)
        expires, expected = times.until(now, ttl), checks.version(if_version)

        replaces = False

        def work(tx: Tx) -> tuple[int, int, int | None, Scope]:
            nonlocal replaces
            put, replaces = entries.put(
                tx, space, self._namespace, name, text, now=now, expires=expires, if_version=expected, scope=owner
            )
            # With its times and owner: a repeated request gets the result of the first, which had others.
            return put.version, now, expires, put.scope

        version, updated, until, whose = self._store.write(work, space)
        if replaces:
            self._store.scrub_log()
        parts = (whose.user, whose.agent, whose.session)
        return entries.EntryRow(self._namespace, name, text, version, updated, until, *parts).decode()

    def delete(self, key: str, *, if_version: int | None = None) -> bool:
        space, name, expected = self._place.make(), checks.name(key, "key"), checks.version(if_version)
        deleted = self._store.write(
            lambda tx: entries.remove(tx, space, self._namespace, name, now=times.now(), if_version=expected),
            space,
        )
        if deleted:
            self._store.scrub_log()
        return deleted

    def keys(self, prefix: str = "") -> list[str]:
        space, begins = self._place.find(), checks.text(prefix, "prefix", limit=512)
        return self._store.read(
            lambda tx: entries.keys(tx, space, self._namespace, prefix=begins, now=times.now()), space
        )

    def append(self, key: str, *items: Json, scope: Scope | None = None) -> Entry:
        space, name, owner = self._place.make(), checks.name(key, "key"), checks.owner(scope)
        for item in items:
            checks.json_text(item, "item", limit=self._limit)
        return self._store.write(
            lambda tx: entries.append(
                tx, space, self._namespace, name, items, now=times.now(), limit=self._limit, scope=owner
            ),
            space,
        )
