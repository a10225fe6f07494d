"""The demo's cost files: the same at every start, whole or absent, and of the story's accounts."""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pytest

from nimbill.costs.ingestion.delivery import Limits, deliver
from nimbill.demo import cost_writing
from nimbill.demo.cost_files import DELIVERIES, INVOICED, LATE, CostDelivery
from nimbill.demo.cost_writing import CORRECTED, STRAYS, month_of, write_cost_files
from nimbill.demo.fixtures import accounts_of, production_of
from nimbill.demo.story import AOZORA, MINATO
from nimbill.demo.story_months import CURRENT, ENTRIES, LAST_CLOSED, MONTHS, OPEN
from nimbill.demo.vendor_files import writing
from nimbill.demo.vendor_files.writing import Kind, Month, costs_of

LAST = MONTHS[-3:]
OF_LAST = [one for one in (*DELIVERIES, *INVOICED, LATE) if one.month in LAST]


def delivery_of(vendor: str, month: str) -> CostDelivery:
    (found,) = [
        one
        for one in DELIVERIES
        if (one.reseller, one.vendor, one.month) == (AOZORA.username, vendor, month)
    ]
    return found


def digests(inbox: Path) -> dict[str, str]:
    return {
        str(file.relative_to(inbox)): sha256(file.read_bytes()).hexdigest()
        for file in inbox.rglob("*")
        if file.is_file()
    }


def test_they_are_the_same_in_every_demo(tmp_path: Path) -> None:
    for inbox in ("one", "other"):
        write_cost_files(tmp_path / inbox, LAST)

    assert digests(tmp_path / "one") == digests(tmp_path / "other")
    assert len(digests(tmp_path / "one")) == 2 * len(OF_LAST)  # each with its manifest


def test_a_folder_that_was_cut_off_is_written_again_and_a_whole_one_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, months = writing.write_files, [OPEN]
    first, second, *_ = (one for one in DELIVERIES if one.month == OPEN)

    def cut_off(month: Month, *how: object, **more: object) -> None:
        write(month, *how, **more)  # type: ignore[arg-type]
        if month.vendor == second.vendor:
            raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(cost_writing, "write_files", cut_off)
        with pytest.raises(KeyboardInterrupt):
            write_cost_files(tmp_path, months)
    assert not (tmp_path / second.place).exists()
    (tmp_path / first.place / "report-00001.csv.gz").write_bytes(b"the user's own")

    write_cost_files(tmp_path, months)

    assert (tmp_path / first.place / "report-00001.csv.gz").read_bytes() == b"the user's own"
    assert all((tmp_path / one.place).is_dir() for one in DELIVERIES if one.month == OPEN)
    assert not list(tmp_path.rglob(".*"))


def test_the_invoiced_month_and_the_late_one_are_later_versions(tmp_path: Path) -> None:
    write_cost_files(tmp_path, LAST)
    pairs = [(delivery_of("aws", CURRENT), INVOICED[0]), (delivery_of("aws", LAST_CLOSED), LATE)]
    assert [before.invoice is None for before, _ in pairs] == [True, False]

    for before, after in pairs:
        earlier, later = (
            deliver(
                [str(tmp_path / one.place)],
                spool=tmp_path,
                month=None,
                limits=Limits(),
                tell=lambda _: None,
            )
            for one in (before, after)
        )
        assert earlier.month == later.month == after.month
        assert earlier.identity != later.identity
        assert earlier.assembled_at is not None
        assert later.assembled_at is not None
        assert earlier.assembled_at < later.assembled_at


def test_the_late_version_differs_in_one_customers_usage_alone() -> None:
    before, after = costs_of(month_of(delivery_of("aws", LAST_CLOSED))), costs_of(month_of(LATE))

    differ = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}

    assert differ == {(production_of(AOZORA, CORRECTED, "aws").customer_id, Kind.usage)}


def test_the_month_that_is_not_over_has_fewer_days_and_no_invoice() -> None:
    unfinished, whole = (month_of(one) for one in (delivery_of("aws", CURRENT), INVOICED[0]))

    assert unfinished.invoice is None
    assert whole.invoice is not None
    assert unfinished.lines < whole.lines
    assert sum(costs_of(unfinished).values()) < sum(costs_of(whole).values())


@pytest.mark.parametrize("vendor", ["aws", "azure"])
def test_a_month_is_some_thousand_lines_of_everybody(vendor: str) -> None:
    month = month_of(delivery_of(vendor, OPEN))
    known = {one.customer_id for one in accounts_of(AOZORA) if one.vendor == vendor}
    costs = costs_of(month)

    assert month.lines < 4_000
    assert set(month.customer_ids) == known | {STRAYS[vendor]}
    assert {customer for customer, _ in costs} == set(month.customer_ids)
    told = {kind: sum(cost for (_, one), cost in costs.items() if one is kind) for kind in Kind}
    once = [one for one in ENTRIES if (one.month, one.vendor) == (OPEN, vendor)]
    for kind in {Kind[one.kind] for one in once}:
        assert told[kind] == sum(one.amount for one in once if Kind[one.kind] is kind)


def test_every_kind_of_charge_is_in_some_month() -> None:
    kinds = {kind for one in OF_LAST for _, kind in costs_of(month_of(one))}

    assert kinds == set(Kind)


def test_what_a_plan_covers_is_taken_back() -> None:
    costs = costs_of(month_of(delivery_of("aws", OPEN)))

    for (customer, kind), cost in costs.items():
        if kind is Kind.planned:
            assert cost > 0
            assert cost + costs[customer, Kind.negation] == Decimal(0)


def test_customers_spend_about_what_the_story_says_they_do() -> None:
    costs = costs_of(month_of(delivery_of("aws", OPEN)))
    for customer in AOZORA.customers_of("aws"):
        theirs = [
            one.customer_id
            for one in accounts_of(AOZORA)
            if one.customer is customer and one.vendor == "aws"
        ]
        spent = sum(costs[one, Kind.usage] for one in theirs)
        assert customer.clouds["aws"].spend * 7 < spent * 10 < customer.clouds["aws"].spend * 16


def test_strays_are_nobodys() -> None:
    known = {one.customer_id for reseller in (AOZORA, MINATO) for one in accounts_of(reseller)}

    assert known.isdisjoint(STRAYS.values())
