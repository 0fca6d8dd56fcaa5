"""Where a bank's memos stand in its book: the memories that it sees, and those of them that are its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from commonplace.errors import Conflict, InvalidInput, NotFound
from commonplace.integrations.handle import BookHandle
from commonplace.integrations.tasks import stored
from commonplace.integrations.tasks.memo import Memo
from commonplace.values import Hit, Memory, Origin, Scope

_PAGE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The memories of one bank and scope; every call waits for the book."""

    handle: BookHandle
    bank: str
    scope: Scope

    def put(self, new: Memo, origin: Origin) -> Memory:
        """Remember a memo; the very same one that stands already is returned."""
        book, draft = self.handle.open(), stored.draft(new, self.bank, self.scope, origin)
        for number in count(1):
            id = stored.identity(new, self.bank, self.scope, number)
            try:
                return book.remember(replace(draft, id=id))
            except Conflict:
                if (known := self._still(id)) is not None:
                    return known
        raise AssertionError("unreachable")

    def _still(self, id: str) -> Memory | None:
        """The memo of an id that is taken, if it says what it said at first; None if that is news again.

        It may have been changed, taken out of the bank, or contradicted since. One in quarantine stays there.
        """
        try:
            known = self.get(id)
        except NotFound:
            return None
        # Not compared with the draft: the book may have taken a secret out of what it was given.
        first = known if known.version == 1 else self.handle.open().get(id, version=1)
        if first.text != known.text or (known.valid_to is not None and not self._quarantined(id)):
            return None
        return known

    def _quarantined(self, id: str) -> bool:
        told = [each.action for each in self.handle.open().history(id)]
        return [each for each in told if each in ("quarantined", "reopened")][-1:] == ["quarantined"]

    def near(self, asked: str, most: int) -> Sequence[Hit]:
        """The memos that recall finds closest, with its judgement of each; none is cut off."""
        return self.handle.open().recall(asked, k=most, threshold=0, max_tokens=None, **self._seen).hits

    def change(self, before: Memory, changed: Memo) -> Memory:
        """Give a memo another content; Conflict if somebody changed it meanwhile."""
        draft = stored.draft(changed, self.bank, self.scope)
        return self.handle.open().revise(
            before.id, draft.content, text=draft.text or "", metadata=draft.metadata, if_version=before.version
        )

    def holds_any(self) -> bool:
        """Whether there is any memo to see."""
        return bool(self.handle.open().list(**self._seen, limit=1).memories)

    def everything(self) -> Iterator[Memory]:
        """All memos to see, newest first."""
        cursor: str | None = None
        while True:
            found = self.handle.open().list(**self._seen, limit=_PAGE, cursor=cursor)
            yield from found
            if (cursor := found.cursor) is None:
                return

    def get(self, id: str) -> Memory:
        """A memo by its id; NotFound for what is no memo, of another bank, or of somebody else."""
        found = self.handle.open().get(id)
        mine = found.kind == stored.KIND and stored.tag(self.bank) in found.tags
        if not mine or not stored.sees(self.scope, found.scope):
            raise NotFound(f"no memo with id {id!r} in bank {self.bank!r}")
        return found

    def own(self, id: str) -> Memory:
        """A memo that this bank may change; one of everybody's is refused to a scope of its own."""
        found = self.get(id)
        if found.scope != self.scope:
            raise InvalidInput(f"memo {id} is shared with everybody: change it from a bank without a scope")
        return found

    def clear(self) -> None:
        """Forget what is of exactly this bank and scope."""
        tags = [stored.tag(self.bank)]
        self.handle.open().forget(filter=stored.exactly(self.scope), kinds=[stored.KIND], tags=tags)

    @property
    def _seen(self) -> dict[str, Any]:
        tags = [stored.tag(self.bank)]
        return {"kinds": [stored.KIND], "tags": tags, "within": stored.seen_by(self.scope)}
