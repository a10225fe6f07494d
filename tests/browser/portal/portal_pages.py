"""The pages of the portal with the paths that show the sample customer's data."""

from tests.browser.portal.sample_customer import CLOSED_MONTH, MONTH

PAGES = {
    "dashboard": "/dashboard",
    "invoices": "/invoices",
    "invoice": f"/invoices/{CLOSED_MONTH}/aws",
    "accounts": f"/accounts?month={MONTH}",
    "groups": f"/groups?month={MONTH}",
    "tags": f"/tags?month={MONTH}&key=Team&earlier=0",
    "tag-pairs": f"/tag-pairs?month={MONTH}",
    "fees": f"/fees?month={MONTH}",
    "downloads": f"/downloads?month={CLOSED_MONTH}",
    "filters": "/filters",
    "budgets": "/budgets",
    "anomalies": f"/anomalies?month={MONTH}",
    "reservations": f"/commitments?month={MONTH}",
    "utilisation": f"/commitments?month={MONTH}&show=ri_utilization",
    "recommendations": f"/commitments?month={MONTH}&show=ri_recommendation",
    "savings-plans": f"/commitments?month={MONTH}&show=sp_purchased",
    "account-groups": "/account-groups",
    "people": "/people",
    "roles": "/roles",
    "api-clients": "/api-clients",
    "security": "/security",
}
