"""Keys: who may do what in a book.

A key reads `cp_ID_SECRET`. It is shown once; the store keeps the SHA-256 of the secret. Slow hashes protect passwords,
which can be guessed. A secret of 40 random characters (238 bits) cannot, and a slow hash would slow every request.
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
from commonplace.errors import Forbidden, InvalidInput, NotFound, RateLimited, StoreError, Unauthorized
from commonplace.store.base import Store, Tx
from commonplace.store.tables import keys as rows
from commonplace.store.tables import spaces
from commonplace.store.tables.keys import KeyRow, Spent
from commonplace.values import checks, times

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each role includes those before it."""

_ID = string.ascii_lowercase + string.digits
_SECRET = string.ascii_letters + string.digits
_TOKEN = re.compile(r"cp_([a-z0-9]{12})_([A-Za-z0-9]{40})")
_NONE = "0" * 64
"""The digest of no secret: an unknown key is compared with it, and takes as long as a wrong secret."""
_SIGN_UP = "sign-up"
"""The meters that count the keys which anybody may create."""
_MOST_PATTERNS = 100
_COARSE = 60_000_000
"""Microseconds between two updates of a key's last use."""
_LONGEST = 100 * 365 * 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key without its secret."""

    id: str
    """The public part, which may be logged."""
    role: Role
    spaces: tuple[str, ...]
    """Patterns of the spaces that it opens: "team-a", "agents-*"."""
    home: str
    """The space for requests that name none."""
    label: str
    plan: str
    limits: Limits
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    """When it was used last, to a minute or so."""
    revoked_at: datetime | None

    def opens(self, space: str) -> bool:
        """Tell whether the key opens a space."""
        return any(globs.matches(pattern, space) for pattern in self.spaces)

    def may(self, role: Role) -> bool:
        """Tell whether the key has a role."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def covers(self, other: Key) -> bool:
        """Tell whether another key opens and allows nothing that this one does not."""
        return self.may(other.role) and all(
            any(globs.covers(own, pattern) for own in self.spaces) for pattern in other.spaces
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key with the token that its holder sends; the token is shown only now."""

    token: str
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How much of a limit is used."""

    name: str
    used: float | None
    """None for a limit on each namespace if no namespace is given."""
    limit: float
    resets_at: datetime | None
    """When the count starts at 0 again; None for a level, which is no count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A key whose secret was presented, with its use of limits."""

    key: Key
    spent: tuple[Spent, ...]


def exist(store: Store) -> bool:
    """Tell whether the book has, or had, keys: then every request needs one, also after the last was revoked."""
    return store.read(rows.exist, rows.lane(""))


def admit(store: Store, token: str | None) -> Admitted | None:
    """Return the key of a token; None if the book never had a key. Raise Unauthorized if the token is not valid.

    The store is read each time, so that every process refuses a key from the moment it is revoked.
    """
    parts = _TOKEN.fullmatch(token or "")
    id, secret = (parts[1], parts[2]) if parts else ("", "")
    found = store.read(lambda tx: rows.look_up(tx, id), rows.lane(""))
    if not found.any:
        return None
    now = times.now()
    proven = _is_proven(found.row, secret, now)
    if token is None:
        raise Unauthorized("this needs a key: send it as `Authorization: Bearer cp_…`, or as X-API-Key")
    if found.row is None or not proven:
        raise Unauthorized("this is not a key of this book: check that all of it was copied, or ask for a new one")
    if found.row.revoked_at is not None:
        raise Unauthorized("this key was revoked: ask for a new one")
    if found.row.expires_at is not None and found.row.expires_at <= now:
        raise Unauthorized("this key has expired: ask for a new one")
    if found.row.used_at is None or found.row.used_at <= now - _COARSE:
        with suppress(StoreError):  # a key is admitted even if its use cannot be noted
            store.write(lambda tx: rows.note_use(tx, id, now=now, before=now - _COARSE), rows.lane(id))
    return Admitted(key=_decode(found.row), spent=found.spent)


def _is_proven(row: KeyRow | None, secret: str, now: int) -> bool:
    """Tell whether a secret is the key's, or was until a rotation whose grace lasts; in the same time for any key."""
    given, current, old = _digest(secret), _NONE, _NONE
    if row is not None:
        current = row.secret
        if row.old_secret is not None and row.old_until is not None and row.old_until > now:
            old = row.old_secret
    is_current, is_old = hmac.compare_digest(given, current), hmac.compare_digest(given, old)
    return is_current or is_old


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
    """Create a key that is valid for `expires` seconds, or until it is revoked; it is on disk when this returns.

    `limits` override those of the plan. `by` is the id of the key that asks: the new key opens and allows no more than
    that one, and lasts no longer.
    """
    row, token = _new_row(role, spaces, home, label, plan, limits, expires)

    def work(tx: Tx) -> KeyRow:
        asks = _asking_key(tx, by)  # in this transaction: a key that was just revoked creates none
        made = row if asks is None else _delegate(asks, row)
        rows.insert(tx, made)
        return made

    return NewKey(token=token, key=_decode(store.write(work, rows.lane(row.id))))


def _new_row(
    role: str,
    spaces: Iterable[str],
    home: str | None,
    label: str,
    plan: str,
    limits: Mapping[str, object] | None,
    expires: float | None,
) -> tuple[KeyRow, str]:
    """Return a checked key that is not stored yet, and its token."""
    now = times.now()
    patterns = _check_patterns(spaces)
    id, secret = _random(_ID, 12), _random(_SECRET, 40)
    row = KeyRow(
        id=id,
        secret=_digest(secret),
        old_secret=None,
        old_until=None,
        role=_check_role(role),
        spaces=json.dumps(patterns, ensure_ascii=False),
        home=_choose_home(home, patterns),
        label=checks.name(label, "label") if label else "",
        plan=plan,
        limits=plans.dump_limits(plans.choose_limits(plan, limits)),
        created_at=now,
        expires_at=times.until(now, _check_expires(expires)),
        used_at=None,
        revoked_at=None,
    )
    return row, f"cp_{id}_{secret}"


def sign_up(store: Store, name: str, plan: str, *, address: str | None = None) -> NewKey:
    """Create a key with a new space of its own, for somebody at an address; raise RateLimited after too many.

    Raise Forbidden if the book has no keys: with the first one, its owner, who has none, would be locked out.
    """
    label, id = checks.name(name, "name"), _random(_ID, 12)
    row, token = _new_row("write", (f"agent-{id}",), None, label, plan, None, None)

    def work(tx: Tx) -> KeyRow:
        if not rows.exist(tx):
            raise Forbidden(
                "nobody can sign up yet: the owner first needs a key (commonplace keys create --role admin --space '*')"
            )
        _count_sign_up(tx, address)
        rows.insert(tx, row)
        return row

    return NewKey(token=token, key=_decode(store.write(work, rows.lane(_SIGN_UP))))


def _count_sign_up(tx: Tx, address: str | None) -> None:
    """Draw from the bucket of an address and from that of all."""
    now = times.now()
    rows.sweep_full(tx, _SIGN_UP, now=now)
    places = [(rows.EVERYWHERE, plans.SIGN_UPS)]
    if address is not None:
        places.append((sha256(address.encode()).hexdigest()[:32], plans.SIGN_UPS_OF_ONE))
    for place, limits in places:
        each, burst = bucket(limits)
        if not rows.draw(tx, _SIGN_UP, now=now, each=each, burst=burst, place=place):
            drawn = rows.read_meter(tx, _SIGN_UP, rows.BUCKET, place=place)
            wait = ((drawn.used if drawn else now) + each - now - burst * each) / 1e6
            whose = "from your address" if place else "on this server"
            raise RateLimited(f"too many keys were created {whose}: try again in {wait:,.0f} s", retry_after=wait)


def list_keys(store: Store, *, by: str | None = None) -> list[Key]:
    """Return every key, the oldest first, also revoked ones; with `by` only those that it may manage."""

    def work(tx: Tx) -> list[Key]:
        keys, asks = [_decode(row) for row in rows.read_all(tx)], _asking_key(tx, by)
        return [key for key in keys if asks is None or asks.covers(key)]

    return store.read(work, rows.lane(""))


def find(store: Store, id: str, *, by: str | None = None) -> Key:
    """Return a key; raise NotFound if there is none, or none that `by` may manage."""
    return _decode(store.read(lambda tx: _find_row(tx, id, by), rows.lane("")))


def rotate(store: Store, id: str, *, grace: float = 0, by: str | None = None) -> NewKey:
    """Give a key a new secret; its last one is valid for `grace` seconds more, earlier ones no longer."""
    name, secret = checks.name(id, "id"), _random(_SECRET, 40)
    longer = checks.amount(grace, "grace")
    if longer > _LONGEST:
        raise InvalidInput(f"grace must be at most {_LONGEST:,.0f} seconds, not {grace!r}")

    def work(tx: Tx) -> KeyRow:
        found, asks = _find_row(tx, name, by), _asking_key(tx, by)
        if asks is not None and asks.id != name:
            _ensure_may_rotate(asks, _decode(found))
        made = rows.rotate(tx, name, _digest(secret), until=times.now() + int(longer * 1e6))
        if made is None:
            raise InvalidInput(f"the key {name} was revoked: create a new one")
        return made

    return NewKey(token=f"cp_{name}_{secret}", key=_decode(store.write(work, rows.lane(name))))


def revoke(store: Store, id: str, *, by: str | None = None) -> Key:
    """Revoke a key for good; when this returns, no process admits it. Revoking it twice is harmless."""
    name = checks.name(id, "id")

    def work(tx: Tx) -> KeyRow:
        return rows.revoke(tx, _find_row(tx, name, by).id, now=times.now()) or _refuse_unknown(name)

    return _decode(store.write(work, rows.lane(name)))


def usage(
    store: Store, id: str, *, space: str | None = None, namespace: str | None = None, by: str | None = None
) -> list[Usage]:
    """Return the use of each limit of a key; levels are those of `space`, or of its home."""
    key = find(store, id, by=by)
    where = key.home if space is None else checks.name(space, "space")
    if not key.opens(where):
        raise Forbidden(f"the key {id} does not open the space {where!r}")
    shelf = checks.optional_name(namespace, "namespace")
    number = store.read(lambda tx: spaces.find(tx, where), rows.lane("")) or spaces.NEW
    return store.read(lambda tx: _read_usage(tx, key, where, number, shelf), number)


def meter_place(space: str, namespace: str) -> str:
    """Return where writes to a namespace are counted: a digest, so that a forgotten space leaves no name behind."""
    return sha256(json.dumps([space, namespace]).encode()).hexdigest()[:32]


def bucket(limits: Limits) -> tuple[int, int]:
    """Return a rate as a bucket: the microseconds in which it gains one request, rounded up, and its capacity."""
    if limits.rate is None:
        raise InvalidInput("these limits have no rate")
    return -int(-1e6 // limits.rate), limits.burst or 1


def _read_usage(tx: Tx, key: Key, space: str, number: int, namespace: str | None) -> list[Usage]:
    now, limits, found = times.now(), key.limits, []
    if limits.rate is not None:
        each, burst = bucket(limits)
        drawn = rows.read_meter(tx, key.id, rows.BUCKET)
        filled = max(0, drawn.used - now) if drawn else 0
        refilled = times.from_micros(now + filled)
        found.append(Usage(name="burst", used=-(-filled // each), limit=burst, resets_at=refilled))
    found += _read_counts(tx, key, space, namespace, now)
    if limits.memories is not None:
        held = rows.count_memories(tx, number, now=now)
        found.append(Usage(name="memories", used=held, limit=limits.memories, resets_at=None))
    if limits.namespace_bytes is not None:
        size = None if namespace is None else rows.count_bytes(tx, number, namespace, now=now)
        found.append(Usage(name="namespace_bytes", used=size, limit=limits.namespace_bytes, resets_at=None))
    if limits.space_bytes is not None:
        size = rows.count_space_bytes(tx, number)
        found.append(Usage(name="space_bytes", used=size, limit=limits.space_bytes, resets_at=None))
    return found


def _read_counts(tx: Tx, key: Key, space: str, namespace: str | None, now: int) -> list[Usage]:
    found: list[Usage] = []
    for name, period in plans.COUNTED.items():
        limit = key.limits.given.get(name)
        if limit is None:
            continue
        start, used = plans.period_start(period, now), None
        if name not in plans.BY_NAMESPACE or namespace is not None:
            where = meter_place(space, namespace) if name in plans.BY_NAMESPACE and namespace else rows.EVERYWHERE
            spent = rows.read_meter(tx, key.id, name, place=where)
            used = spent.used if spent and spent.period >= start else 0
        resets_at = times.from_micros(plans.period_end(period, start))
        found.append(Usage(name=name, used=used, limit=limit, resets_at=resets_at))
    return found


# -- checks --------------------------------------------------------------------------------------------


def _delegate(asks: Key, row: KeyRow) -> KeyRow:
    """Return a new key as another one may create it."""
    if not asks.covers(_decode(row)):
        raise Forbidden(
            f"the key {asks.id} may {asks.role} in {', '.join(asks.spaces)}: it cannot create keys that allow more"
        )
    if asks.limits != plans.UNLIMITED:
        raise Forbidden(f"the key {asks.id} has limits and cannot create keys, because each new key would add to them")
    last = None if asks.expires_at is None else times.to_micros(asks.expires_at)
    if last is not None and (row.expires_at is None or row.expires_at > last):
        return row._replace(expires_at=last)
    return row


def _ensure_may_rotate(asks: Key, other: Key) -> None:
    """Raise Forbidden if another key has fewer limits or lasts longer: its secret would allow more."""
    if asks.limits != plans.UNLIMITED:
        raise Forbidden(f"the key {asks.id} has limits: it can rotate only itself")
    if asks.expires_at is not None and (other.expires_at is None or other.expires_at > asks.expires_at):
        raise Forbidden(f"the key {other.id} lasts longer than the key {asks.id}, which cannot rotate it")


def _asking_key(tx: Tx, by: str | None) -> Key | None:
    """Return the admin key that manages keys; None if the caller has opened the store itself."""
    if by is None:
        return None
    row = rows.find(tx, by)
    if row is None or row.revoked_at is not None or row.role != "admin":
        raise Forbidden("only an admin key can manage keys")
    return _decode(row)


def _find_row(tx: Tx, id: str, by: str | None) -> KeyRow:
    found, asks = rows.find(tx, checks.name(id, "id")), _asking_key(tx, by)
    # A key that another may not manage does not exist for it.
    if found is None or (asks is not None and not asks.covers(_decode(found))):
        return _refuse_unknown(id)
    return found


def _refuse_unknown(id: str) -> KeyRow:
    raise NotFound(f"there is no key {id!r}: a key's id is the part between cp_ and the second _")


def _check_role(role: str) -> Role:
    if role not in ROLES:
        raise InvalidInput(f"a role is one of {', '.join(ROLES)}, not {role!r}")
    return role


def _check_patterns(given: Iterable[str]) -> tuple[str, ...]:
    patterns = tuple(dict.fromkeys(checks.names(given, "spaces")))
    if not patterns or len(patterns) > _MOST_PATTERNS:
        raise InvalidInput(f"a key opens from 1 to {_MOST_PATTERNS} spaces or patterns of spaces, not {len(patterns)}")
    for pattern in patterns:
        if pattern.startswith(spaces.RESERVED):
            raise InvalidInput(f"no key can open spaces that begin with {spaces.RESERVED!r}")
    return patterns


def _choose_home(home: str | None, patterns: tuple[str, ...]) -> str:
    if home is None:
        plain = [pattern for pattern in patterns if globs.STAR not in pattern]
        home = plain[0] if plain else "default"
    checked = checks.name(home, "home")
    if not any(globs.matches(pattern, checked) for pattern in patterns):
        raise InvalidInput(f"the key would not open its home {checked!r}: name a home among {', '.join(patterns)}")
    return checked


def _check_expires(value: float | None) -> float | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is not None and not (number and 0 < value <= _LONGEST):
        raise InvalidInput(f"expires must be a positive number of seconds, at most {_LONGEST:,.0f}, not {value!r}")
    return value


def _decode(row: KeyRow) -> Key:
    return Key(
        id=row.id,
        role=_check_role(row.role),
        spaces=tuple(json.loads(row.spaces)),
        home=row.home,
        label=row.label,
        plan=row.plan,
        limits=plans.read_limits(row.limits),
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
