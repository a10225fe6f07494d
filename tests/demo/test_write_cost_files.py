"""The cost files of the demo are reproducible, complete, and match the seed data."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pytest

from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.parts import Limits
from nimbill.demo.cost_deliveries import (
    ALL_DELIVERIES,
    DELIVERIES,
    INVOICED_DELIVERIES,
    LATE_DELIVERY,
    CostDelivery,
    list_deliveries,
)
from nimbill.demo.fixtures import find_production_account, list_cloud_accounts
from nimbill.demo.monthly_data import (
    CURRENT_MONTH,
    LAST_CLOSED_MONTH,
    MONTHS,
    ONE_OFF_CHARGES,
    OPEN_MONTH,
)
from nimbill.demo.resellers import AOZORA, MINATO, RESELLERS
from nimbill.demo.vendor_files.charges import ChargeKind, SyntheticMonth, sum_costs
from nimbill.demo.vendor_files.file_writer import write_files
from nimbill.demo.write_cost_files import (
    CORRECTED_BILLING_GROUP,
    UNASSIGNED_ACCOUNTS,
    build_month,
    write_cost_files,
)

RECENT_MONTHS = MONTHS[-3:]
RECENT_DELIVERIES = [delivery for delivery in ALL_DELIVERIES if delivery.month in RECENT_MONTHS]


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inbox")
    write_all_cost_files(folder)
    return folder


def write_all_cost_files(folder: Path) -> None:
    for reseller in RESELLERS:
        write_cost_files(folder / reseller.username, reseller.username, RECENT_MONTHS)


def find_delivery(vendor: str, month: str) -> CostDelivery:
    (delivery,) = [
        delivery
        for delivery in DELIVERIES
        if (delivery.reseller, delivery.vendor, delivery.month) == (AOZORA.username, vendor, month)
    ]
    return delivery


def compute_digests(inbox: Path) -> dict[str, str]:
    return {
        str(file.relative_to(inbox)): sha256(file.read_bytes()).hexdigest()
        for file in inbox.rglob("*")
        if file.is_file()
    }


def test_every_demo_gets_the_same_files(inbox: Path, tmp_path: Path) -> None:
    write_all_cost_files(tmp_path)

    assert compute_digests(tmp_path) == compute_digests(inbox)
    assert len(compute_digests(inbox)) == 2 * len(RECENT_DELIVERIES)  # a part and a manifest each


def test_an_interrupted_folder_is_written_again_and_a_complete_one_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliveries = list_deliveries(AOZORA, [OPEN_MONTH])
    complete, interrupted, *_ = deliveries

    def write_and_interrupt(month: SyntheticMonth, *args: object, **options: object) -> None:
        write_files(month, *args, **options)  # type: ignore[arg-type]
        if month.vendor == interrupted.vendor:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("nimbill.demo.write_cost_files.write_files", write_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_cost_files(tmp_path, AOZORA.username, [OPEN_MONTH])
    assert not (tmp_path / interrupted.folder).exists()
    changed_file = tmp_path / complete.folder / "report-00001.csv.gz"
    changed_file.write_bytes(b"changed by the user")

    write_cost_files(tmp_path, AOZORA.username, [OPEN_MONTH])

    assert changed_file.read_bytes() == b"changed by the user"
    assert all((tmp_path / delivery.folder).is_dir() for delivery in deliveries)
    assert not list(tmp_path.rglob(".*"))


def test_the_invoiced_and_late_deliveries_are_later_versions(inbox: Path, tmp_path: Path) -> None:
    pairs = [
        (find_delivery("aws", CURRENT_MONTH), INVOICED_DELIVERIES[0]),
        (find_delivery("aws", LAST_CLOSED_MONTH), LATE_DELIVERY),
    ]
    assert [before.invoice is None for before, _ in pairs] == [True, False]

    for before, after in pairs:
        earlier, later = (
            fetch_delivery(
                [str(inbox / AOZORA.username / delivery.folder)],
                spool=tmp_path,
                month=None,
                limits=Limits(),
                notify=lambda _: None,
            )
            for delivery in (before, after)
        )

        assert earlier.month == later.month == after.month
        assert earlier.content_hash != later.content_hash
        assert earlier.assembled_at is not None
        assert later.assembled_at is not None
        assert earlier.assembled_at < later.assembled_at


def test_the_late_delivery_changes_only_the_usage_of_one_customer() -> None:
    before = sum_costs(build_month(find_delivery("aws", LAST_CLOSED_MONTH)))
    after = sum_costs(build_month(LATE_DELIVERY))

    changed = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}

    account = find_production_account(AOZORA, CORRECTED_BILLING_GROUP, "aws")
    assert changed == {(account.customer_id, ChargeKind.usage)}


def test_the_current_month_has_fewer_days_and_no_invoice() -> None:
    provisional = build_month(find_delivery("aws", CURRENT_MONTH))
    final = build_month(INVOICED_DELIVERIES[0])

    assert provisional.invoice is None
    assert final.invoice is not None
    assert provisional.lines < final.lines
    assert sum(sum_costs(provisional).values()) < sum(sum_costs(final).values())


@pytest.mark.parametrize("vendor", ["aws", "azure"])
def test_a_month_contains_every_account_and_the_one_off_charges(vendor: str) -> None:
    month = build_month(find_delivery(vendor, OPEN_MONTH))
    accounts = {
        account.customer_id for account in list_cloud_accounts(AOZORA) if account.vendor == vendor
    }
    costs = sum_costs(month)

    assert month.lines < 4_000
    assert set(month.customer_ids) == accounts | {UNASSIGNED_ACCOUNTS[vendor]}
    assert {customer for customer, _ in costs} == set(month.customer_ids)
    totals: defaultdict[ChargeKind, Decimal] = defaultdict(Decimal)
    for (_, kind), cost in costs.items():
        totals[kind] += cost
    expected: defaultdict[ChargeKind, Decimal] = defaultdict(Decimal)
    for charge in ONE_OFF_CHARGES:
        if (charge.month, charge.vendor) == (OPEN_MONTH, vendor):
            expected[ChargeKind[charge.kind]] += charge.amount
    assert expected
    assert {kind: totals[kind] for kind in expected} == expected


def test_the_files_contain_every_kind_of_charge() -> None:
    kinds = {kind for delivery in RECENT_DELIVERIES for _, kind in sum_costs(build_month(delivery))}

    assert kinds == set(ChargeKind)


def test_usage_under_a_savings_plan_is_cancelled_by_its_negation() -> None:
    costs = sum_costs(build_month(find_delivery("aws", OPEN_MONTH)))

    for (customer, kind), cost in costs.items():
        if kind is ChargeKind.savings_plan_usage:
            assert cost > 0
            assert cost + costs[customer, ChargeKind.savings_plan_negation] == Decimal(0)


def test_customers_spend_about_the_amount_of_their_contract() -> None:
    costs = sum_costs(build_month(find_delivery("aws", OPEN_MONTH)))
    accounts = [account for account in list_cloud_accounts(AOZORA) if account.vendor == "aws"]

    for customer in AOZORA.list_customers("aws"):
        spend = sum(
            costs[account.customer_id, ChargeKind.usage]
            for account in accounts
            if account.customer is customer
        )
        agreed = customer.contracts["aws"].spend
        assert agreed * 7 < spend * 10 < agreed * 16


def test_unassigned_accounts_belong_to_no_customer() -> None:
    accounts = {
        account.customer_id
        for reseller in (AOZORA, MINATO)
        for account in list_cloud_accounts(reseller)
    }

    assert accounts.isdisjoint(UNASSIGNED_ACCOUNTS.values())
