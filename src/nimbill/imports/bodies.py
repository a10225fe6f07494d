"""Bodies of the import operations."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from nimbill.foundation.basis import Basis, chosen
from nimbill.foundation.calendar_month import CalendarMonth
from nimbill.foundation.vendors import Vendor
from nimbill.http.request_bodies import NOT_EMPTY, Body, text_length


class ImportState(StrEnum):
    waiting = "waiting"
    running = "running"
    done = "done"
    unchanged = "unchanged"  # the same delivery is already imported
    refused = "refused"
    parked = "parked"  # stored, but not used until it is released
    drift = "drift"  # the month is closed: differences are reported, nothing is changed
    failed = "failed"


class ImportSource(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("cost-imports")

    vendor: Vendor
    month: CalendarMonth | None = None
    source: Annotated[str, text_length(1, 2000)]


class ImportStarted(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("cost-imports")

    status: str = "success"
    import_id: str


class ImportRelease(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("parked-months")

    reason: Annotated[str, NOT_EMPTY]


class ImportTotal(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("cost-imports")

    payer_id: str
    line_type: str
    kind: str
    currency: str
    cost: Decimal
    lines: int


class ProposedEntry(Body, frozen=True, kw_only=True):
    """An entry that would bill a late change of a closed month; it is not applied automatically."""

    basis: ClassVar[Basis] = chosen("closed-month-drift")

    customer_id: str
    service: str
    marketplace: bool
    kind: str
    calc_type: str
    amount: Decimal
    currency: str
    description: str
    counts: Decimal
    delivered: Decimal
    payer_id: str = ""


class ImportProblem(Body, frozen=True, kw_only=True):
    """Why the import was refused, with the location in the file."""

    basis: ClassVar[Basis] = chosen("cost-imports")

    status: int
    code: str
    detail: str
    file: str | None = None
    line: int | None = None
    column: str | None = None


class ImportNotice(Body, frozen=True, kw_only=True):
    """Something odd about an import: what, how often, and up to ten accounts, types or vendors."""

    basis: ClassVar[Basis] = chosen("import-notices")

    code: str
    count: int
    affected: list[str]


class ImportRecord(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("cost-imports")

    import_id: str
    vendor: Vendor
    month: str | None
    sources: list[str]
    state: ImportState
    progress: dict[str, Any]
    percent: int  # share of finished steps
    lines: int
    provisional: bool | None
    assembly: str | None
    totals: list[ImportTotal]
    unknown_types: dict[str, int]
    accounts_in_no_group: list[str]
    currencies: dict[str, int]
    identical_import: str | None  # of an unchanged import: the one that counts
    noticed: dict[str, Any]
    warnings: list[ImportNotice]
    differences: list[dict[str, Any]]
    drift: list[dict[str, Any]]
    proposals: list[ProposedEntry]
    problem: ImportProblem | None
    parked_reason: str | None
    release_reason: str | None
    create_time: str
    update_time: str


class AccountCost(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("bulk-assignment")

    currency: str
    cost: Decimal


class SuggestedGroup(Body, frozen=True, kw_only=True):
    """`reason` is former_group or similar_name; `similarity` is in per cent."""

    basis: ClassVar[Basis] = chosen("bulk-assignment")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str
    reason: str
    similarity: int


class UnassignedAccount(Body, frozen=True, kw_only=True):
    """An account with costs in `month` that is in no billing group; `account_id` is its payer."""

    basis: ClassVar[Basis] = chosen("bulk-assignment")

    vendor: Vendor
    customer_id: str
    account_id: str
    name: str | None
    month: str
    costs: list[AccountCost]
    suggestion: SuggestedGroup | None
