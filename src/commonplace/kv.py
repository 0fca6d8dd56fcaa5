"""Key-value state: JSON values under names, with versions, time to live and compare-and-set."""

from __future__ import annotations

from commonplace.memories.core import Place
from commonplace.settings import Settings
from commonplace.store.base import Store, Tx
from commonplace.store.tables import entries
from commonplace.values import Entry, Json, checks, times


class KeyValue:
    """One namespace of a space's key-value entries. Made by `Book.kv`."""

    def __init__(self, store: Store, place: Place, namespace: str, settings: Settings) -> None:
        self._store = store
        self._place = place
        self._namespace = checks.name(namespace, "namespace")
        self._limit = settings.max_content_bytes

    def get(self, key: str, default: Json = None) -> Json:
        """The value under `key`, or `default` if nothing stands there."""
        entry = self.entry(key)
        return default if entry is None else entry.value

    def entry(self, key: str) -> Entry | None:
        """The value with its version and times; None if nothing stands there."""
        space, name = self._place.find(), checks.name(key, "key")
        return self._store.read(lambda tx: entries.get(tx, space, self._namespace, name, now=times.now()), space)

    def set(self, key: str, value: Json, *, ttl: float | None = None, if_version: int | None = None) -> Entry:
        """Set a value; when this returns it is on disk. `if_version=0` sets it only if nothing stands there."""
        space, name, now = self._place.make(), checks.name(key, "key"), times.now()
        text = checks.json_text(value, "value", limit=self._limit)
        expires, expected = times.until(now, ttl), checks.version(if_version)

        def work(tx: Tx) -> tuple[int, int, int | None]:
            put = entries.put(tx, space, self._namespace, name, text, now=now, expires=expires, if_version=expected)
            # With its times: a call that is given what an earlier one did tells of that one.
            return put, now, expires

        return entries.decode((name, text, *self._store.write(work, space)))

    def delete(self, key: str, *, if_version: int | None = None) -> bool:
        """Delete a value; False if nothing stood there."""
        space, name, expected = self._place.make(), checks.name(key, "key"), checks.version(if_version)
        return self._store.write(
            lambda tx: entries.remove(tx, space, self._namespace, name, now=times.now(), if_version=expected),
            space,
        )

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that stand, sorted; with `prefix` only those that begin with it."""
        space, begins = self._place.find(), checks.text(prefix, "prefix", limit=512)
        return self._store.read(
            lambda tx: entries.keys(tx, space, self._namespace, prefix=begins, now=times.now()), space
        )

    def append(self, key: str, *items: Json) -> Entry:
        """Add items to the end of a list in one step, making the list if nothing stands there.

        Concurrent appends are all kept; a time to live that was set stays.
        """
        space, name = self._place.make(), checks.name(key, "key")
        for item in items:
            checks.json_text(item, "item", limit=self._limit)
        return self._store.write(
            lambda tx: entries.append(tx, space, self._namespace, name, items, now=times.now(), limit=self._limit),
            space,
        )
