"""Respond to failed logins at multiples of a tenth of a second, so that timing reveals nothing.

An unknown name and a wrong password do the same work except for reading one row. That difference
of about 0.1 ms could be measured with a thousand requests.
"""

import asyncio
import time

# See docs/choices.md, login-throttle.

STEP_SECONDS = 0.1


async def wait_until_next_step(began: float) -> None:
    """Wait for the next step after `began`, a time of the monotonic clock. Hold no connection."""
    if STEP_SECONDS:
        await asyncio.sleep(STEP_SECONDS - (time.monotonic() - began) % STEP_SECONDS)
