"""The MCP server: requests of the protocol become calls of tools, resources and prompts, and errors become answers.

Both eras of the protocol are the SDK's: connections with a handshake, and requests that stand alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from commonplace import Book, __version__
from commonplace.errors import CommonplaceError, Conflict, LimitReached, NotFound
from commonplace.integrations.handle import BookHandle
from commonplace.integrations.mcp import offers, tools
from commonplace.integrations.mcp.tools import Answer, Client, Operation
from commonplace.values import NOBODY, Scope

T = TypeVar("T")
_log = logging.getLogger("commonplace.mcp")
_LONGEST_SOURCE = 60


class Connection(Protocol):
    """The way to a book for one request."""

    @property
    def scope(self) -> Scope:
        """Whose memories are written; a user limits what is seen."""

    async def run(self, operation: Operation, verb: Callable[[Book], T]) -> T:
        """Carry out a verb on the book, outside the event loop."""


Context = ServerRequestContext[Any, Any]


def make_server(connect: Callable[[Any], Connection]) -> Server[Any]:
    """Return a server of the book that `connect` gives for a request; over stdio, there is no request (None)."""
    asked = _Requests(connect)
    return Server(
        "commonplace",
        title="commonplace",
        version=__version__,
        instructions=tools.INSTRUCTIONS,
        on_list_tools=asked.list_tools,
        on_call_tool=asked.call_tool,
        on_list_resources=asked.list_resources,
        on_list_resource_templates=asked.list_templates,
        on_read_resource=asked.read_resource,
        on_list_prompts=asked.list_prompts,
        on_get_prompt=asked.get_prompt,
    )


class _Requests:
    """Answers the requests of the protocol."""

    def __init__(self, connect: Callable[[Any], Connection]) -> None:
        self._connect = connect

    async def list_tools(self, context: Context, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(tool) for tool in tools.TOOLS])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await self._call(context, params.name, dict(params.arguments or {}))
        except CommonplaceError as error:
            return _refuse(error)
        except Exception:  # noqa: BLE001 - the protocol's border: whatever failed, the client gets an answer
            # A stack trace is for the log: a model would only be misled by it.
            _log.exception("the tool %r failed", params.name)
            return _refuse(CommonplaceError("the server failed: its log says why"))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], structured_content=answer.data
        )

    async def _call(self, context: Context, name: str, given: dict[str, Any]) -> Answer:
        tool = tools.BY_NAME.get(name)
        if tool is None:
            raise NotFound(f"there is no tool {name!r}; there are {', '.join(tools.BY_NAME)}")
        tool.ensure_valid(given)
        connection = self._connect(context.request)
        client = Client(scope=connection.scope, source=_source(context))
        return await connection.run(tool.operation_of(given), lambda book: tool.run(book, client, given))

    async def list_resources(self, context: Context, params: object) -> types.ListResourcesResult:
        found = await self._read(context, lambda book, scope: offers.list_resources(book))
        return types.ListResourcesResult(resources=found)

    async def list_templates(self, context: Context, params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=list(offers.TEMPLATES))

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        found = await self._read(context, lambda book, scope: offers.read_resource(book, scope, uri))
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(self, context: Context, params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=list(offers.PROMPTS))

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        given = dict(params.arguments or {})
        return await self._read(context, lambda book, scope: offers.get_prompt(book, scope, params.name, given))

    async def _read(self, context: Context, verb: Callable[[Book, Scope], T]) -> T:
        """Read from the book; an error of ours becomes one of the protocol, with its code."""
        connection = self._connect(context.request)
        try:
            return await connection.run("read", lambda book: verb(book, connection.scope))
        except CommonplaceError as error:
            status = types.INVALID_PARAMS if error.status in (400, 404) else types.INTERNAL_ERROR
            raise MCPError(status, str(error), {"code": error.code}) from None


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the program that started this process until it closes the connection."""
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _describe(tool: tools.Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.about,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _refuse(error: CommonplaceError) -> types.CallToolResult:
    data: dict[str, Any] = {"code": error.code, "message": str(error), "retryable": error.retryable}
    if isinstance(error, Conflict):
        data["current"] = error.current
    if isinstance(error, LimitReached):
        data["retry_after"] = error.retry_after
    text = types.TextContent(type="text", text=f"{error.code}: {error}")
    return types.CallToolResult(content=[text], structured_content={"error": data}, is_error=True)


def _source(context: Context) -> str | None:
    """Return the name of the client's program, which memories of it carry."""
    known = context.session.client_params
    name = "" if known is None else " ".join("".join(filter(str.isprintable, known.client_info.name)).split())
    return name[:_LONGEST_SOURCE] or None


class Local:
    """The connection of every request to one book, in its worker threads."""

    def __init__(self, handle: BookHandle, scope: Scope = NOBODY) -> None:
        self._handle = handle
        self.scope = scope

    async def run(self, operation: Operation, verb: Callable[[Book], T]) -> T:
        return await self._handle.run(lambda: verb(self._handle.open()))
