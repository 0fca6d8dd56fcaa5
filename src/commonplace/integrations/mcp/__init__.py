"""The Model Context Protocol: a book as seven tools, with resources and prompts, on the official SDK."""

from commonplace.integrations.mcp.server import Connection as Connection
from commonplace.integrations.mcp.server import Local as Local
from commonplace.integrations.mcp.server import make_server as make_server
from commonplace.integrations.mcp.server import serve_stdio as serve_stdio

__all__ = ["Connection", "Local", "make_server", "serve_stdio"]
