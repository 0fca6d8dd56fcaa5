"""What BotWire's client raises."""

from __future__ import annotations

from commonplace.compat.rooms import TYPES


class BotWireError(Exception):
    """What `Channel` and `register` raise."""


class RegistrationRequired(BotWireError):
    """An agent that nobody registered."""

    def __init__(self, agent_id: str) -> None:
        super().__init__(f"Agent {agent_id!r} is not registered: call register({agent_id!r}, accept_terms=True)")


class ChannelNotFound(BotWireError):
    """There is no such channel."""


class PostFailed(BotWireError):
    """An entry could not be posted."""


class PaymentRequired(BotWireError):
    """Never raised here: nothing is paid."""


class RateLimited(BotWireError):
    """More requests than the key may send."""

    def __init__(self, retry_after: float = 60) -> None:
        self.retry_after = retry_after
        super().__init__(f"Rate limited. Retry after {retry_after:g} seconds.")


class InvalidType(BotWireError):
    """A type of entry that there is not."""

    def __init__(self, entry_type: str) -> None:
        super().__init__(f"Invalid type {entry_type!r}. Use: {', '.join(sorted(TYPES))}")
