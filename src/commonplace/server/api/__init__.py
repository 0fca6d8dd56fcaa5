"""The native API: every verb of Book under /v1/spaces/{space}, and keys under /v1/keys."""

from fastapi import APIRouter

from commonplace.server.api import keys as keys
from commonplace.server.api import memories, persons, state, transfer
from commonplace.server.problems import PROBLEMS

first_router = APIRouter(prefix="/v1/spaces/{space}", responses=PROBLEMS)
"""The most frequent routes."""
first_router.include_router(memories.recall_router)
router = APIRouter(prefix="/v1/spaces/{space}", responses=PROBLEMS)
for each in (memories.router, memories.learn_router, state.router, persons.router, transfer.care, transfer.router):
    router.include_router(each)
