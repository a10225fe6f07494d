"""Every page of the reseller's console fits, is accessible and is shown in both languages."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.chromium import LOADING
from tests.browser.console.conftest import ALL_RULES, OpenConsole
from tests.browser.console.sample_reseller import CLOSED_MONTH, SampleReseller

# {company} is a customer with accounts and invoices.
PAGES = (
    f"/months/{CLOSED_MONTH}/aws",
    f"/checks/{CLOSED_MONTH}/aws",
    f"/invoices/{CLOSED_MONTH}?vendor=aws",
    f"/invoices/{CLOSED_MONTH}/{{company}}/aws",
    f"/invoices/{CLOSED_MONTH}/{{company}}/aws?tab=payments",
    "/receivables",
    "/receivables/import",
    "/archive",
    "/approvals",
    "/projects",
    "/customers",
    "/customers/{company}",
    "/customers/{company}/terms/aws",
    "/customers/new",
    "/customers/import",
    "/templates",
    "/templates/new",
    "/imports",
    "/accounts",
    "/accounts?unassigned=true",
    "/entries",
    "/reservations",
    "/people",
    "/people/new",
    "/roles",
    "/roles/new",
    "/api-clients",
    "/webhooks",
    "/audit",
    "/settings",
    "/security",
)


def test_every_page_is_accessible_and_shown_in_both_languages(
    open_console: OpenConsole, reseller: SampleReseller
) -> None:
    console = open_console(reseller)
    company = next(iter(reseller.companies.values()))
    console.expected_refusals.add(400)  # the preview of 10% tax, which the settings do not allow
    console.open("/no-such-page")
    console.check_in_both_languages(ALL_RULES)

    for path in PAGES:
        console.visit(path.format(company=company))
        expect(console.page.locator(LOADING)).to_have_count(0)
        console.check_in_both_languages(ALL_RULES)
        console.check_tables_fit()
