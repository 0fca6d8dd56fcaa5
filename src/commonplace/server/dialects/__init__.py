"""The dialects: what clients of other memory services send, answered from the same book.

They stay out of the OpenAPI description: their clients define them, docs/dialects.md tells of them.
"""

from __future__ import annotations

import re
from collections import defaultdict

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from commonplace.server.dialects import botwire, memstore, zerolatency

_ROUTE = "commonplace.dialects.route"


class Dialects(BaseRoute):
    """Every route of every dialect, at the root and again under /spaces/{space}; 0Latency's also under /v1 and /api.

    Written out, they would be more than a hundred routes, which the framework tries one after the other for over a
    millisecond. Here the path loses its prefixes, and its first words choose the few that are tried.
    """

    def __init__(self) -> None:
        self._routes: dict[str, list[APIRoute]] = defaultdict(list)
        for router in (botwire.router, memstore.router, zerolatency.router):
            for route in router.routes:
                if isinstance(route, APIRoute):
                    self._routes[_first(route.path)].append(route)
        aliased = "|".join(
            {route.path.split("/")[1] for route in zerolatency.router.routes if isinstance(route, APIRoute)}
        )
        self._address = re.compile(rf"(?:/spaces/([^/]+)(?=/))?(?:/(?:v1|api)(?=/(?:{aliased})(?:/|$)))?(/.*)")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The route that a request is for, with the space that its path begins with."""
        found = self._address.fullmatch(scope["path"]) if scope["type"] == "http" else None
        best: tuple[Match, Scope] = Match.NONE, {}
        if found is None:
            return best
        space, rest = found.groups()
        bare = {"type": "http", "method": scope["method"], "path": rest}
        for route in self._routes.get(_first(rest), ()):
            match, child = route.matches(bare)
            if match is not Match.NONE and best[0] is not Match.FULL:
                named = {} if space is None else {"space": space}
                best = match, {**child, _ROUTE: route, "path_params": {**child["path_params"], **named}}
            if match is Match.FULL:
                break
        return best

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the route that was found."""
        await scope[_ROUTE].handle(scope, receive, send)


def _first(path: str) -> str:
    """What chooses among the routes: the first word of a path, or the first two if that is v1."""
    words = path.split("/", 3)
    return "/".join(words[1:3]) if words[1] == "v1" else words[1]
