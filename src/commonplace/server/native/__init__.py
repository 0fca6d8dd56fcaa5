"""The native API: every verb of Book under /v1/spaces/{space}."""

from fastapi import APIRouter

from commonplace.server.native import recalling

router = APIRouter(prefix="/v1/spaces/{space}")
router.include_router(recalling.router)
