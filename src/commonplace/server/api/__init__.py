"""The native API: every verb of Book under /v1/spaces/{space}."""

from fastapi import APIRouter

from commonplace.server.api import canvases, care, kv, learning, listing, memories, recalling, streams, transcripts
from commonplace.server.api.answering import PROBLEMS

router = APIRouter(prefix="/v1/spaces/{space}", responses=PROBLEMS)
# Listing comes before memories: `/memories/list` is no id.
for each in (recalling, listing, memories, learning, kv, canvases, transcripts, care, streams):
    router.include_router(each.router)
