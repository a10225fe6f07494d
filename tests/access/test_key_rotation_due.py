"""When a signing key is due to rotate, to the microsecond."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from unittest.mock import AsyncMock

import pytest

from nimbill.access import key_rotation
from nimbill.access.tokens import TokenIssuer
from nimbill.foundation.product import Product

AT = datetime(2026, 11, 16, tzinfo=UTC)
NINETY_DAYS, ONE_DAY, MOMENT = timedelta(days=90), timedelta(days=1), timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("active_since", "published_since", "rotates"),
    [
        (NINETY_DAYS, ONE_DAY, True),
        (NINETY_DAYS - MOMENT, ONE_DAY, False),
        (NINETY_DAYS, ONE_DAY - MOMENT, False),
    ],
)
def test_a_key_rotates_after_ninety_days_if_the_next_was_published_for_a_day(
    monkeypatch: pytest.MonkeyPatch,
    active_since: timedelta,
    published_since: timedelta,
    *,
    rotates: bool,
) -> None:
    keys = {
        "active": SimpleNamespace(state_time=AT - active_since),
        "next": SimpleNamespace(state_time=AT - published_since),
    }
    rotate = AsyncMock()
    monkeypatch.setattr(key_rotation, "ensure_keys", AsyncMock())
    monkeypatch.setattr(key_rotation, "_load_keys_by_state", AsyncMock(return_value=keys))
    monkeypatch.setattr(key_rotation, "_rotate", rotate)
    issuers = {Product.core: TokenIssuer("http://127.0.0.1/core", 3600)}

    asyncio.run(key_rotation.maintain_keys(AsyncMock(), AsyncMock(), at=AT, issuers=issuers))

    assert rotate.await_count == rotates
