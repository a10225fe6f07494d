"""Which customer sees an account's month: the one it was invoiced to, even after a change.

An account that changes its billing group takes its open months along. A month that was invoiced to
the former group before the change stays with that group.
"""

from collections.abc import Mapping
from typing import NamedTuple

import sqlalchemy as sa

from nimbill.customers.cloud_accounts.records import former_account_groups
from nimbill.database.tenant_scope import is_any_of, of_given_tenant
from nimbill.invoicing.documents.stored_invoices import invoices
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


_former, _invoices = former_account_groups.c, invoices.c
# Months that stay with the former group. An account that left its group first comes last, and wins.
SELECT_FORMER_OWNERS = (
    sa.select(_former.vendor, _former.customer_id, _invoices.month, _former.company_id)
    .join_from(
        former_account_groups,
        invoices,
        (_invoices.organisation_id == _former.organisation_id)
        & (_invoices.company_id == _former.company_id)
        & (_invoices.vendor == _former.vendor)
        & (_invoices.create_time < _former.left_at),
    )
    .where(
        of_given_tenant(former_account_groups),
        is_any_of(_invoices.month, sa.bindparam("months")),
    )
    .order_by(_former.left_at.desc())
)
