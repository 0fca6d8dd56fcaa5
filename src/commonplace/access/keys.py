"""Keys: who may do what in a book. Verbs on a store, without HTTP.

A key reads `cp_ID_SECRET`. It is shown once; the store keeps the SHA-256 of the secret. A slow hash is for passwords,
which can be guessed: a secret of 40 random characters (238 bits) cannot, however fast each try, and a slow hash would
cost every request what it costs an attacker.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import string
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal, get_args

from commonplace.access import patterns as globs
from commonplace.access import plans
from commonplace.access.plans import Limits
from commonplace.errors import Forbidden, InvalidInput, NotFound, StoreError, Unauthorized
from commonplace.store.base import Store, Tx
from commonplace.store.tables import keys as rows
from commonplace.store.tables import spaces
from commonplace.store.tables.keys import KeyRow, Spent
from commonplace.values import checks, times

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""What a key allows, each with what comes before it."""

_ID = string.ascii_lowercase + string.digits
_SECRET = string.ascii_letters + string.digits
_TOKEN = re.compile(r"cp_([a-z0-9]{12})_([A-Za-z0-9]{40})")
_NONE = "0" * 64
"""No secret has this digest: an unknown key is compared with it, so that it takes as long as a wrong one."""
_MOST_PATTERNS = 100
_COARSE = 60_000_000
"""Microseconds between two notes of a key's last use."""
_LONGEST = 100 * 365 * 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key as it may be shown: everything but the secret."""

    id: str
    """Its public part, which may be logged."""
    role: Role
    spaces: tuple[str, ...]
    """Patterns of the spaces that it opens: "team-a", "agents-*"."""
    home: str
    """The space of dialects that name none."""
    label: str
    plan: str
    limits: Limits
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    """When it was used last, to a minute or so."""
    revoked_at: datetime | None

    def opens(self, space: str) -> bool:
        """Whether a space is one of its own."""
        return any(globs.matches(pattern, space) for pattern in self.spaces)

    def may(self, role: Role) -> bool:
        """Whether its role is enough."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def covers(self, other: Key) -> bool:
        """Whether the other opens nothing, and allows nothing, that this one does not."""
        return self.may(other.role) and all(
            any(globs.covers(own, pattern) for own in self.spaces) for pattern in other.spaces
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key with what its holder sends. This is the only time that it is seen."""

    token: str
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How much of a limit is used."""

    name: str
    used: float | None
    """None for a limit on each namespace, as long as none is named."""
    limit: float
    resets_at: datetime | None
    """When counting begins anew; None for what is no count, but a level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A key that somebody proved to hold, with what it has used of its limits."""

    key: Key
    spent: tuple[Spent, ...]


def exist(store: Store) -> bool:
    """Whether the book has, or had, keys: then every request needs one, also after the last was revoked."""
    return store.read(rows.exist, rows.lane(""))


def admit(store: Store, token: str | None) -> Admitted | None:
    """Say whose key this is, as the store has it now; None if the book never had a key. Unauthorized otherwise.

    It is looked up each time: whatever was revoked is refused from that moment on, by every process.
    """
    parts = _TOKEN.fullmatch(token or "")
    id, secret = (parts[1], parts[2]) if parts else ("", "")
    found = store.read(lambda tx: rows.look_up(tx, id), rows.lane(""))
    if not found.any:
        return None
    now = times.now()
    proven = _proven(found.row, secret, now)
    if token is None:
        raise Unauthorized("this needs a key: send it as `Authorization: Bearer cp_…`, or as X-API-Key")
    if found.row is None or not proven:
        raise Unauthorized("this is no key of this book: check that it was copied whole, or ask for a new one")
    if found.row.revoked_at is not None:
        raise Unauthorized("this key was revoked: ask for a new one")
    if found.row.expires_at is not None and found.row.expires_at <= now:
        raise Unauthorized("this key has expired: ask for a new one")
    _note_use(store, found.row, now)
    return Admitted(key=_decode(found.row), spent=found.spent)


def _proven(row: KeyRow | None, secret: str, now: int) -> bool:
    """Whether a secret is the key's, or was until a rotation whose grace lasts. Takes the same steps for every key."""
    given = _digest(secret)
    current, old = _NONE, _NONE
    if row is not None:
        current = row.secret
        if row.old_secret is not None and row.old_until is not None and row.old_until > now:
            old = row.old_secret
    is_current, is_old = hmac.compare_digest(given, current), hmac.compare_digest(given, old)
    return is_current or is_old


def _note_use(store: Store, row: KeyRow, now: int) -> None:
    if row.used_at is None or row.used_at <= now - _COARSE:
        # Nobody is turned away because a note could not be made.
        with suppress(StoreError):
            store.write(lambda tx: rows.note_use(tx, row.id, now=now, before=now - _COARSE), rows.lane(row.id))


def create(
    store: Store,
    *,
    role: str = "write",
    spaces: Iterable[str] = ("default",),
    home: str | None = None,
    label: str = "",
    plan: str = "unlimited",
    limits: Mapping[str, object] | None = None,
    expires: float | None = None,
    by: str | None = None,
) -> NewKey:
    """Make a key; when this returns it is on disk and good, for `expires` seconds or for ever.

    `limits` go before those of the plan. `by` is the id of the key that asks for it: the new one opens nothing, allows
    nothing and lasts no longer than that one.
    """
    now = times.now()
    patterns = _patterns(spaces)
    id, secret = _random(_ID, 12), _random(_SECRET, 40)
    row = KeyRow(
        id=id,
        secret=_digest(secret),
        old_secret=None,
        old_until=None,
        role=_role(role),
        spaces=json.dumps(patterns, ensure_ascii=False),
        home=_home(home, patterns),
        label=checks.name(label, "label") if label else "",
        plan=plan,
        limits=plans.dumps(plans.chosen(plan, limits)),
        created_at=now,
        expires_at=times.until(now, None if expires is None else _seconds(expires, "expires")),
        used_at=None,
        revoked_at=None,
    )
    # On the row as it is now, in the transaction that writes: who has just been revoked makes no key.
    kept = store.write(lambda tx: _insert(tx, row, by), rows.lane(id))
    return NewKey(token=_token(id, secret), key=_decode(kept))


def sign_up(store: Store, name: str, plan: str) -> NewKey:
    """A key for somebody new, with a space of its own that no other key names."""
    label, id = checks.name(name, "name"), _random(_ID, 12)
    return create(store, role="write", spaces=(f"agent-{id}",), label=label, plan=plan)


def everything(store: Store, *, by: str | None = None) -> list[Key]:
    """Every key, the oldest first, revoked ones too; with `by` those that it may look after."""

    def work(tx: Tx) -> list[Key]:
        keys, asks = [_decode(row) for row in rows.read_all(tx)], _asking(tx, by)
        return [key for key in keys if asks is None or asks.covers(key)]

    return store.read(work, rows.lane(""))


def find(store: Store, id: str, *, by: str | None = None) -> Key:
    """One key; NotFound if there is none, or none that `by` may look after."""
    return _decode(store.read(lambda tx: _row(tx, id, by), rows.lane("")))


def rotate(store: Store, id: str, *, grace: float = 0, by: str | None = None) -> NewKey:
    """Give a key a new secret; the one it had is good for `grace` seconds more, one from before that no longer."""
    name, secret = checks.name(id, "id"), _random(_SECRET, 40)
    longer = checks.amount(grace, "grace")
    if longer > _LONGEST:
        raise InvalidInput(f"grace must be at most {_LONGEST:,.0f} seconds, not {grace!r}")

    def work(tx: Tx) -> KeyRow:
        found, asks = _row(tx, name, by), _asking(tx, by)
        if asks is not None and asks.id != name:
            _ensure_no_more(asks, _decode(found))
        made = rows.rotate(tx, name, _digest(secret), until=times.now() + int(longer * 1e6))
        if made is None:
            raise InvalidInput(f"the key {name} was revoked, which is for good: create another")
        return made

    return NewKey(token=_token(name, secret), key=_decode(store.write(work, rows.lane(name))))


def revoke(store: Store, id: str, *, by: str | None = None) -> Key:
    """End a key for good; when this returns, no process lets it in. Ending it twice is harmless."""
    name = checks.name(id, "id")

    def work(tx: Tx) -> KeyRow:
        return rows.revoke(tx, _row(tx, name, by).id, now=times.now()) or _missing(name)

    return _decode(store.write(work, rows.lane(name)))


def usage(
    store: Store, id: str, *, space: str | None = None, namespace: str | None = None, by: str | None = None
) -> list[Usage]:
    """What a key has used of each of its limits; levels are those of `space`, or else of its home."""
    key = find(store, id, by=by)
    where = key.home if space is None else checks.name(space, "space")
    if not key.opens(where):
        raise Forbidden(f"the key {id} does not open the space {where!r}")
    shelf = checks.optional_name(namespace, "namespace")
    number = store.read(lambda tx: spaces.find(tx, where), rows.lane("")) or spaces.NEW
    return store.read(lambda tx: _usage(tx, key, where, number, shelf), number)


def place(space: str, namespace: str) -> str:
    """Where writes to a namespace are counted: a digest, so that no name is left behind when the space is forgotten."""
    return sha256(json.dumps([space, namespace]).encode()).hexdigest()[:32]


def full(limits: Limits) -> tuple[int, int]:
    """A rate as a bucket: microseconds until it gets one more, rounded up, and how many it holds."""
    if limits.rate is None:
        raise InvalidInput("these limits have no rate")
    return -int(-1e6 // limits.rate), limits.burst or 1


def _usage(tx: Tx, key: Key, space: str, number: int, namespace: str | None) -> list[Usage]:
    now, limits, found = times.now(), key.limits, []
    if limits.rate is not None:
        each, burst = full(limits)
        drawn = rows.read_meter(tx, key.id, rows.BUCKET)
        filled = max(0, drawn.used - now) if drawn else 0
        refilled = times.from_micros(now + filled)
        found.append(Usage(name="burst", used=-(-filled // each), limit=burst, resets_at=refilled))
    found += _counts(tx, key, space, namespace, now)
    if limits.memories is not None:
        held = rows.count_memories(tx, number, now=now)
        found.append(Usage(name="memories", used=held, limit=limits.memories, resets_at=None))
    if limits.namespace_bytes is not None:
        size = None if namespace is None else rows.count_bytes(tx, number, namespace, now=now)
        found.append(Usage(name="namespace_bytes", used=size, limit=limits.namespace_bytes, resets_at=None))
    return found


def _counts(tx: Tx, key: Key, space: str, namespace: str | None, now: int) -> list[Usage]:
    found: list[Usage] = []
    for name, period in plans.COUNTED.items():
        limit = key.limits.given.get(name)
        if limit is None:
            continue
        start, used = plans.began(period, now), None
        if name not in plans.BY_NAMESPACE or namespace is not None:
            where = place(space, namespace) if name in plans.BY_NAMESPACE and namespace else rows.EVERYWHERE
            spent = rows.read_meter(tx, key.id, name, place=where)
            used = spent.used if spent and spent.period >= start else 0
        ends = times.from_micros(plans.ends(period, start))
        found.append(Usage(name=name, used=used, limit=limit, resets_at=ends))
    return found


# -- what may be asked for ---------------------------------------------------------------------------


def _insert(tx: Tx, row: KeyRow, by: str | None) -> KeyRow:
    asks = _asking(tx, by)
    if asks is not None:
        row = _delegated(asks, row)
    rows.insert(tx, row)
    return row


def _delegated(asks: Key, row: KeyRow) -> KeyRow:
    """A new key as another one may make it."""
    if not asks.covers(_decode(row)):
        raise Forbidden(
            f"the key {asks.id} may {asks.role} in {', '.join(asks.spaces)}: it can make keys for no more than that"
        )
    if asks.limits != plans.UNLIMITED:
        raise Forbidden(f"the key {asks.id} has limits, which a further key would double: it can make none")
    last = None if asks.expires_at is None else times.to_micros(asks.expires_at)
    if last is not None and (row.expires_at is None or row.expires_at > last):
        return row._replace(expires_at=last)
    return row


def _ensure_no_more(asks: Key, other: Key) -> None:
    """Refuse a key another one's secret, if that has fewer limits or lasts longer: it would be more than its own."""
    if asks.limits != plans.UNLIMITED:
        raise Forbidden(f"the key {asks.id} has limits: it can rotate no key but itself")
    if asks.expires_at is not None and (other.expires_at is None or other.expires_at > asks.expires_at):
        raise Forbidden(f"the key {other.id} lasts longer than the key {asks.id}, which can therefore not rotate it")


def _asking(tx: Tx, by: str | None) -> Key | None:
    """The key that asks for something about keys; None where whoever asks has the book itself."""
    if by is None:
        return None
    row = rows.find(tx, by)
    if row is None or row.revoked_at is not None or row.role != "admin":
        raise Forbidden("only an admin key looks after keys")
    return _decode(row)


def _row(tx: Tx, id: str, by: str | None) -> KeyRow:
    found, asks = rows.find(tx, checks.name(id, "id")), _asking(tx, by)
    # What a key may not look after is as good as not there.
    if found is None or (asks is not None and not asks.covers(_decode(found))):
        return _missing(id)
    return found


def _missing(id: str) -> KeyRow:
    raise NotFound(f"there is no key {id!r}: its id is the part between cp_ and the second _")


def _role(role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise InvalidInput(f"a role is one of {', '.join(ROLES)}, not {role!r}")


def _patterns(given: Iterable[str]) -> tuple[str, ...]:
    patterns = tuple(dict.fromkeys(checks.names(given, "spaces")))
    if not patterns or len(patterns) > _MOST_PATTERNS:
        raise InvalidInput(f"a key opens from 1 to {_MOST_PATTERNS} spaces or patterns of spaces, not {len(patterns)}")
    for pattern in patterns:
        if pattern.startswith(spaces.RESERVED):
            raise InvalidInput(f"no key opens spaces that begin with {spaces.RESERVED!r}")
    return patterns


def _home(home: str | None, patterns: tuple[str, ...]) -> str:
    if home is None:
        plain = [pattern for pattern in patterns if globs.STAR not in pattern]
        home = plain[0] if plain else "default"
    checked = checks.name(home, "home")
    if not any(globs.matches(pattern, checked) for pattern in patterns):
        raise InvalidInput(f"the key would not open its home {checked!r}: name a home among {', '.join(patterns)}")
    return checked


def _seconds(value: float, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= _LONGEST:
        raise InvalidInput(f"{what} must be a positive number of seconds, at most {_LONGEST:,.0f}, not {value!r}")
    return float(value)


def _decode(row: KeyRow) -> Key:
    return Key(
        id=row.id,
        role=_role(row.role),
        spaces=tuple(json.loads(row.spaces)),
        home=row.home,
        label=row.label,
        plan=row.plan,
        limits=plans.loads(row.limits),
        created_at=times.from_micros(row.created_at),
        expires_at=_moment(row.expires_at),
        used_at=_moment(row.used_at),
        revoked_at=_moment(row.revoked_at),
    )


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else times.from_micros(micros)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _random(alphabet: str, length: int) -> str:
    return "".join(secrets.choice(alphabet) for _ in range(length))


def _token(id: str, secret: str) -> str:
    return f"cp_{id}_{secret}"
