"""The tests here need the SDK; without it, nothing of them is collected."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("mcp") else ["test_*.py"]
