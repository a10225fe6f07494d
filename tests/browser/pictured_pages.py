"""The web pages of the demo, of which `make screenshots` takes pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nimbill.demo.monthly_data import LAST_CLOSED_MONTH, OPEN_MONTH


@dataclass(frozen=True)
class PicturedConsole:
    """One of the two consoles: its address, its sign-in, and its pages by the picture's name.

    An asterisk in a path stands for the end of the first link on the list of such pages, {company}
    for the first customer, {corrected} for the one with late costs.
    """

    root: str
    product: str
    pages: Mapping[str, str]
    sign_in: str  # the name of that picture

    @property
    def names(self) -> list[str]:
        return [self.sign_in, *self.pages]


STAFF = PicturedConsole(
    "/console",
    "core",
    MappingProxyType(
        {
            "months": "/months",
            "month": f"/months/{OPEN_MONTH}/aws",
            "closed-month": f"/months/{LAST_CLOSED_MONTH}/aws",
            "checks": f"/checks/{OPEN_MONTH}/aws",
            "invoices": f"/invoices/{OPEN_MONTH}",
            "invoice": f"/invoices/{OPEN_MONTH}/{{company}}/aws",
            "correction": f"/invoices/{LAST_CLOSED_MONTH}/{{corrected}}/aws?tab=correction",
            "payments": f"/invoices/{LAST_CLOSED_MONTH}/{{company}}/aws?tab=payments",
            "credit-notes": f"/invoices/{LAST_CLOSED_MONTH}/{{company}}/aws?tab=credit-notes",
            "mails": f"/invoices/{LAST_CLOSED_MONTH}/{{company}}/aws?tab=mails",
            "sending": f"/sending/{OPEN_MONTH}/aws",
            "sent-mails": f"/sending/{LAST_CLOSED_MONTH}/aws",
            "receivables": "/receivables",
            "import-payments": "/receivables/import",
            "archive": "/archive",
            "projects": "/projects",
            "customers": "/customers",
            "customer": "/customers/{company}",
            "terms": "/customers/{company}/terms/aws",
            "new-customer": "/customers/new",
            "import-customers": "/customers/import",
            "templates": "/templates",
            "template": "/templates/*",
            "imports": "/imports",
            "import": "/imports/*",
            "accounts": "/accounts",
            "unassigned-accounts": "/accounts?unassigned=true",
            "entries": "/entries",
            "reservations": "/reservations",
            "people": "/people",
            "person": "/people/*",
            "new-person": "/people/new",
            "roles": "/roles",
            "role": "/roles/*",
            "new-role": "/roles/new",
            "api-clients": "/api-clients",
            "webhooks": "/webhooks",
            "webhook": "/webhooks/*",
            "approvals": "/approvals",
            "approval": "/approvals/*",
            "audit": "/audit",
            "settings": "/settings",
            "security": "/security",
            "not-found": "/no-such-page",
        }
    ),
    sign_in="sign-in",
)
CUSTOMER = PicturedConsole(
    "/portal",
    "portal",
    MappingProxyType(
        {
            "portal-dashboard": "/dashboard",
            "portal-invoices": "/invoices",
            "portal-invoice": f"/invoices/{LAST_CLOSED_MONTH}/aws",
            "portal-accounts": f"/accounts?month={OPEN_MONTH}",
            "portal-accounts-year": f"/accounts?month={OPEN_MONTH}&earlier=11",
            "portal-groups": f"/groups?month={OPEN_MONTH}",
            "portal-tags": f"/tags?month={OPEN_MONTH}",
            "portal-tag-pairs": f"/tag-pairs?month={OPEN_MONTH}",
            "portal-fees": f"/fees?month={OPEN_MONTH}",
            "portal-downloads": f"/downloads?month={LAST_CLOSED_MONTH}",
            "portal-filters": "/filters",
            "portal-budgets": "/budgets",
            "portal-anomalies": f"/anomalies?month={OPEN_MONTH}",
            "portal-reservations": f"/commitments?month={OPEN_MONTH}",
            "portal-utilisation": f"/commitments?month={OPEN_MONTH}&show=ri_utilization",
            "portal-recommendations": f"/commitments?month={OPEN_MONTH}&show=ri_recommendation",
            "portal-savings-plans": f"/commitments?month={OPEN_MONTH}&show=sp_purchased",
            "portal-account-groups": "/account-groups",
            "portal-people": "/people",
            "portal-roles": "/roles",
            "portal-api-clients": "/api-clients",
            "portal-security": "/security",
            "portal-not-found": "/no-such-page",
        }
    ),
    sign_in="portal-sign-in",
)
CONSOLES = (STAFF, CUSTOMER)
NAMES = [name for console in CONSOLES for name in console.names]
