"""Every page of the portal: it renders, is accessible, and contains nothing of others."""

from __future__ import annotations

import pytest

from tests.browser.portal.conftest import PHONE, WIDE, OpenPortal
from tests.browser.portal.portal_pages import PAGES
from tests.browser.portal.sample_customer import CLERK, FIRST_ACCOUNT, find_foreign


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_page_is_accessible_and_shows_nothing_of_others(
    open_portal: OpenPortal, language: str
) -> None:
    portal = open_portal(language=language)

    for name, path in PAGES.items():
        portal.open_complete(path)

        assert all(response.ok for response in portal.responses), name
        assert portal.read_width() <= WIDE, name
        portal.check_accessibility()
        assert find_foreign(portal.read_everything()) == [], name


def test_no_page_is_wider_than_the_window_of_a_phone(open_portal: OpenPortal) -> None:
    """The other test checks this for a wide window."""
    portal = open_portal(width=PHONE)

    for name, path in PAGES.items():
        portal.open_complete(path)

        assert portal.read_width() <= PHONE, name


def test_no_page_contains_anything_of_an_account_that_a_filter_hides(
    open_portal: OpenPortal,
) -> None:
    portal = open_portal(CLERK)

    for name, path in PAGES.items():
        portal.open_complete(path)

        contents = portal.read_everything()
        assert FIRST_ACCOUNT not in contents, name
        assert "さくら商事 本番" not in contents, name
        assert find_foreign(contents) == [], name
