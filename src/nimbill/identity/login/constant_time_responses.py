"""A wrong login is answered at a whole tenth of a second after it came, and tells nothing by it.

An unknown name and a wrong password do the same work, but for a row that is read: a ten-thousandth
of a second, which a thousand tries would show.
"""

import asyncio
import time

from nimbill.foundation.basis import chosen

basis = chosen("login-throttle")

STEP_SECONDS = 0.1


async def wait_until_next_step(began: float) -> None:
    """`began` by the monotonic clock; nothing is held meanwhile."""
    if STEP_SECONDS:
        await asyncio.sleep(STEP_SECONDS - (time.monotonic() - began) % STEP_SECONDS)
