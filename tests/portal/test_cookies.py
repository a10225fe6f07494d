"""No test of the portal starts with the cookies of another."""

from __future__ import annotations

import pytest

from tests.running_service import Service


@pytest.mark.parametrize("other", ["the second", "the first"])
def test_a_test_starts_without_the_cookies_of_another(service: Service, other: str) -> None:
    assert list(service.http.cookies.jar) == []

    service.http.cookies.set("left_for", other)
