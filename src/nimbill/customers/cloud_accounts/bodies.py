"""Request and response bodies of the cloud account routes, as specified."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.customers.cloud_accounts.account_number_rules import find_number_violations
from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.request_bodies import Body, Success, text_length

ASSIGNED_MAX = 2_000


class CloudAccountCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Customer cloud account")

    vendor: BilledVendor
    customer_id: str
    account_id: str
    company_id: str
    name: Annotated[str, text_length(3, 100)]
    note: str | None = None

    @classmethod
    def vendor_violations(
        cls, sent: Mapping[str, Any], vendors: Sequence[str]
    ) -> Iterator[Violation]:
        return find_number_violations(sent, "customer_id", "account_id", vendors=vendors)


class CloudAccountUpdate(Body, frozen=True, kw_only=True):
    """The customer_id is in the path. Neither it nor the vendor can change."""

    basis: ClassVar[Basis] = stated("Customer cloud account")

    vendor: BilledVendor
    account_id: str
    company_id: str
    name: Annotated[str, text_length(3, 100)]
    note: str | None = None

    @classmethod
    def vendor_violations(
        cls, sent: Mapping[str, Any], vendors: Sequence[str]
    ) -> Iterator[Violation]:
        return find_number_violations(sent, "account_id", vendors=vendors)


class CreatedAccount(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("csv-imports")

    vendor: BilledVendor
    customer_id: str
    company_id: str


class AccountsCreated(Success, frozen=True, kw_only=True):
    """The accounts in the order of the file."""

    basis: ClassVar[Basis] = chosen("csv-imports")

    created: list[CreatedAccount]


class CloudAccountRecord(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("account-paths")

    customer_id: str
    customer_name: str
    account_id: str
    vendor: BilledVendor
    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    note: str | None
    payer: bool
    project_id: str | None
    service_discount: None
    etag: str | UnsetType = UNSET  # with the parameter `etags`


class AccountToAssign(Body, frozen=True, kw_only=True):
    """An account that is not registered yet also needs `account_id`, its payer."""

    basis: ClassVar[Basis] = chosen("bulk-assignment")

    vendor: BilledVendor
    customer_id: str
    account_id: str | None = None
    name: Annotated[str, text_length(3, 100)] | None = None


class AccountsAssign(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("bulk-assignment")

    company_id: str
    accounts: list[AccountToAssign]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        accounts = sent.get("accounts")
        if isinstance(accounts, list) and not 1 <= len(accounts) <= ASSIGNED_MAX:
            yield Violation("accounts", f"from 1 to {ASSIGNED_MAX} accounts")

    @classmethod
    def vendor_violations(
        cls, sent: Mapping[str, Any], vendors: Sequence[str]
    ) -> Iterator[Violation]:
        accounts = sent.get("accounts")
        for index, account in enumerate(accounts if isinstance(accounts, list) else []):
            if isinstance(account, dict):
                fields = [name for name in ("customer_id", "account_id") if account.get(name)]
                for violation in find_number_violations(account, *fields, vendors=vendors):
                    yield Violation(f"accounts[{index}].{violation.field}", violation.rule)


class AccountsAssigned(Success, frozen=True, kw_only=True):
    """How many accounts were registered, and how many came from another group."""

    basis: ClassVar[Basis] = chosen("bulk-assignment")

    created: int
    moved: int
