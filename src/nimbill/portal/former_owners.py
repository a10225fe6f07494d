"""Which customer sees an account's month: the one it was invoiced to, even after a change.

An account that changes its billing group takes its open months along. A month that was invoiced to
the former group before the change stays with that group.
"""

from collections.abc import Mapping
from typing import NamedTuple

from nimbill.portal.view import AccountKey, PortalView, ViewedAccount

# See docs/choices.md, portal-former-accounts.


class AccountMonth(NamedTuple):
    vendor: str
    customer_id: str
    month: str


class ViewedMonths(dict[AccountKey, ViewedAccount]):
    """The accounts of a view and those that have left it, and whose months they are."""

    def __init__(
        self,
        view: PortalView,
        former_accounts: Mapping[AccountKey, ViewedAccount],
        former_owners: Mapping[AccountMonth, str],
    ) -> None:
        super().__init__({**former_accounts, **view.accounts})
        self.scope, self.former_owners = view.scope, former_owners

    def find_owner(
        self, vendor: str, customer_id: str | None, month: str, present: str | None
    ) -> str | None:
        """Return the company that the account's month belongs to; None if it is not visible."""
        owner = present
        if self.former_owners and customer_id is not None:
            owner = self.former_owners.get(AccountMonth(vendor, customer_id, month), present)
        groups = self.scope.billing_groups
        return owner if groups is None or owner in groups else None


def build_viewed_months(
    view: PortalView, former_owners: Mapping[AccountMonth, str]
) -> ViewedMonths:
    """Accounts that have left are shown by number: their name is now another customer's."""
    former_accounts = {
        AccountKey(vendor, customer_id): ViewedAccount("", customer_id)
        for (vendor, customer_id, _), company_id in former_owners.items()
        if view.admits_account(customer_id)
        and (view.scope.billing_groups is None or company_id in view.scope.billing_groups)
    }
    return ViewedMonths(view, former_accounts, former_owners)


# The company_id of the former group for months that stay with it. An account that left its group
# first comes last, and wins.
SELECT_FORMER_OWNERS = """
SELECT f.vendor, f.customer_id, i.month, f.company_id, f.left_at
FROM former_account_groups f JOIN invoices i ON i.organisation_id = f.organisation_id
    AND i.company_id = f.company_id AND i.vendor = f.vendor AND i.create_time < f.left_at
WHERE f.organisation_id = $1 AND i.month = ANY($3)
"""
