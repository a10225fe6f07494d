"""Ends long work of a request when its client closes the connection."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from litestar import Request

from nimbill.foundation.errors import Invalid

T = TypeVar("T")


async def run_until_disconnected(
    request: Request[Any, Any, Any], work: Coroutine[Any, Any, T]
) -> T:
    """Return the result of the work, or cancel it when nobody waits for it any more.

    Only for requests without a body, because this receives all further messages.
    """
    working = asyncio.ensure_future(work)
    waiting = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Invalid("client_gone", "The connection was closed before the response.")
        return working.result()
    finally:
        for task in (working, waiting):
            task.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)


async def _wait_for_disconnect(request: Request[Any, Any, Any]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
