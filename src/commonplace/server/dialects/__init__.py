"""The dialects: what clients of other memory services send, answered from the same book.

They stay out of the OpenAPI description: their clients define them, docs/dialects.md tells of them.
"""

from fastapi import APIRouter

from commonplace.server.dialects import botwire, memstore, zerolatency

router = APIRouter(include_in_schema=False)
for _dialect in (botwire, memstore, zerolatency):
    router.include_router(_dialect.router)
