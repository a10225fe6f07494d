"""Every page of the portal: it renders, is accessible, and contains nothing of others."""

from __future__ import annotations

from tests.browser.console.conftest import ALL_RULES
from tests.browser.portal.conftest import PHONE, WIDE, OpenPortal
from tests.browser.portal.portal_pages import PAGES
from tests.browser.portal.sample_customer import CLERK, FIRST_ACCOUNT, find_foreign


def test_every_page_is_accessible_fits_and_shows_nothing_of_others(
    open_portal: OpenPortal,
) -> None:
    portal = open_portal()
    portal.open_complete("/dashboard")

    for name, path in PAGES.items():
        portal.visit_complete(path)

        assert all(response.ok for response in portal.responses), name
        portal.check_in_both_languages(ALL_RULES)
        assert find_foreign(portal.read_everything()) == [], name
        portal.check_width(PHONE)
        portal.check_width(WIDE)
        portal.check_tables_fit()


def test_no_page_contains_anything_of_an_account_that_a_filter_hides(
    open_portal: OpenPortal,
) -> None:
    portal = open_portal(CLERK)
    portal.open_complete("/dashboard")
    links = portal.list_links()
    assert {"/accounts", "/tags", "/commitments"} <= links

    for name, path in PAGES.items():
        if path.partition("?")[0] not in links:
            continue  # it shows nothing but a sentence: test_visits.py
        portal.visit_complete(path)

        contents = portal.read_everything()
        assert FIRST_ACCOUNT not in contents, name
        assert "さくら商事 本番" not in contents, name
        assert find_foreign(contents) == [], name
