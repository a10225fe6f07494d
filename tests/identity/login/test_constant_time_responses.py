"""When a wrong login is answered."""

from __future__ import annotations

import asyncio
import time

import pytest

from nimbill.identity.login import constant_time_responses
from nimbill.identity.login.constant_time_responses import wait_until_next_step


@pytest.mark.parametrize("already", [0.0, 0.04, 0.12])
def test_it_is_answered_at_a_whole_step_after_it_came(
    already: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []

    async def note(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(constant_time_responses, "STEP_SECONDS", 0.1)
    monkeypatch.setattr(asyncio, "sleep", note)
    monkeypatch.setattr(time, "monotonic", lambda: 5.0 + already)

    asyncio.run(wait_until_next_step(5.0))

    assert (already + slept[0]) / 0.1 == pytest.approx(round((already + slept[0]) / 0.1))
    assert 0 < slept[0] <= 0.1 + 1e-9
