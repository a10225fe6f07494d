"""Failed logins are answered at multiples of a step."""

from __future__ import annotations

import asyncio
import time

import pytest

from nimbill.identity.login import constant_time_responses
from nimbill.identity.login.constant_time_responses import wait_until_next_step


@pytest.mark.parametrize("elapsed", [0.0, 0.04, 0.12])
def test_the_response_is_delayed_to_the_next_step(
    elapsed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def record(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(constant_time_responses, "STEP_SECONDS", 0.1)
    monkeypatch.setattr(asyncio, "sleep", record)
    monkeypatch.setattr(time, "monotonic", lambda: 5.0 + elapsed)

    asyncio.run(wait_until_next_step(5.0))

    assert (elapsed + slept[0]) / 0.1 == pytest.approx(round((elapsed + slept[0]) / 0.1))
    assert 0 < slept[0] <= 0.1 + 1e-9
