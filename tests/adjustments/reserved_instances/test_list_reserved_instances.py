"""GET /m/core/ri/purchased"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import clock
from tests.adjustments.reserved_instances.reservations import (
    ARN,
    DEST,
    OTHER,
    OWNER,
    PATH,
    PAYER,
    deliver,
    furnish,
    listed,
    move,
    moved,
    numbers,
    owned,
    reservation,
)
from tests.answers import violations_of
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.running_service import Service


def test_a_reservation_is_shown_with_every_specified_field(service: Service) -> None:
    furnish(service)

    (record,) = listed(service, headers=service.caller(RoleAction.ReadRi))

    assert record.pop("id").startswith("ri_")
    assert record == {
        "billinggroup_id": f"BG-{OWNER}",
        "billinggroup_name": f"group of {OWNER}",
        "customer_id": OWNER,
        "customer_name": f"name of {OWNER}",
        "dest_customer_id": "",
        "arn": ARN,
        "start": "2025-06-01T04:11:37Z",
        "end": "2999-06-01T04:11:36Z",
        "instance_type": "m5.large",
        "modification_status": "Original",
        "offer_class": "standard",
        "paid_by": PAYER,
        "payment_option": "No Upfront",
        "platform": "Linux/UNIX",
        "region": "ap-northeast-1",
        "scope": "Region",
        "service": "AmazonEC2",
        "tenancy": "Shared",
        "term_length": "1yr",
        "usage_type": "APN1-HeavyUsage:m5.large",
        "vendor": "aws",
        "zone": "ap-northeast-1a",
        "normalization_factor": 4,
        "number": 10,
        "unblended_rate": 0.0786,
        "upfront_value": 0,
        "remove": False,
        "disabled": False,
    }


def test_a_moved_record_is_shown_behind_its_original(service: Service) -> None:
    furnish(service)
    move(service, 3)

    original, split_off = listed(service)

    assert original["number"] == 7
    assert split_off["id"].startswith("ri_")
    assert split_off["id"] != original["id"]
    assert split_off == original | {
        "id": split_off["id"],
        "number": 3,
        "dest_customer_id": DEST,
        "remove": True,
    }


def test_numbers_are_numbers_with_the_digits_of_the_vendor(service: Service) -> None:
    deliver(service, reservation(unblended_rate="0.0786123456789012345678", upfront_value="1E3"))

    answer = service.http.get(f"{PATH}?vendor=aws", headers=service.root())

    (record,) = json.loads(answer.text, parse_float=Decimal, parse_int=Decimal)
    assert record["unblended_rate"] == Decimal("0.0786123456789012345678")
    assert record["upfront_value"] == 1000
    assert record["number"] == 10


def test_of_azure_the_id_is_the_reservations_own(service: Service) -> None:
    """What its files do not say is an empty text, or 0."""
    unknown: dict[str, Any] = dict.fromkeys(("reservation_id", "customer_id"), AZURE["customer_id"])
    bare = reservation(**unknown, number=0)
    known = {"reservation_id", "customer_id", "payer_id", "fee", "currency", "number"}
    bare = type(bare)(**{name: getattr(bare, name) for name in known})
    deliver(service, bare, vendor="azure")
    company_id = furnish(service)[OWNER]
    add_account(service, company_id, **AZURE)

    (record,) = listed(service, "azure")

    shown = {name for name, value in record.items() if value not in ("", 0)}
    assert record["id"] == AZURE["customer_id"]
    assert record["arn"] == ""
    assert record["billinggroup_id"] == f"BG-{OWNER}"
    assert shown == {
        *("billinggroup_id", "billinggroup_name", "customer_id", "customer_name"),
        *("id", "paid_by", "vendor", "disabled"),
    }
    numbers_of = ("normalization_factor", "number", "unblended_rate", "upfront_value")
    assert [record[name] for name in numbers_of] == [0, 0, 0, 0]


def test_an_owner_in_no_group_has_empty_names(service: Service) -> None:
    deliver(service, reservation())

    (record,) = listed(service)

    names = ("billinggroup_id", "billinggroup_name", "customer_name")
    assert [record[name] for name in names] == ["", "", ""]
    assert record["customer_id"] == OWNER


def test_one_of_which_nothing_is_left_is_disabled(service: Service) -> None:
    furnish(service)
    move(service, 9)
    assert [one["disabled"] for one in listed(service)] == [False, False]

    move(service, 1, OTHER)

    assert numbers(service) == [0, 9, 1]
    assert [one["disabled"] for one in listed(service)] == [True, False, False]


def test_one_past_its_end_is_disabled(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    end = datetime(2030, 5, 1, 12, 0, tzinfo=UTC)
    furnish(service, reservation(end=end.isoformat()))
    move(service, 4)
    headers = service.root()

    for moment, over in ((end - timedelta(seconds=1), False), (end, True)):
        monkeypatch.setattr(
            "nimbill.adjustments.reserved_instances.routes.now", lambda moment=moment: moment
        )
        assert [one["disabled"] for one in listed(service, headers=headers)] == [over, over]
    assert clock.now() < end


def test_one_without_an_end_goes_on(service: Service) -> None:
    deliver(service, reservation(start="", end="not known"))

    assert (owned(service)["start"], owned(service)["end"]) == ("", "")
    assert owned(service)["disabled"] is False


def test_they_stand_by_owner_and_reservation(service: Service) -> None:
    ids = [("b", OWNER), ("a", OWNER), ("c", DEST)]
    deliver(service, *(reservation(reservation_id=one, customer_id=who) for one, who in ids))

    found = [(one["customer_id"], one["arn"]) for one in listed(service)]

    assert found == [(DEST, "c"), (OWNER, "a"), (OWNER, "b")]


def test_a_reservation_of_two_owners_is_two_records(service: Service) -> None:
    deliver(service, reservation(), reservation(customer_id=DEST))

    assert len({one["id"] for one in listed(service)}) == 2


def test_a_vendors_reservations_are_its_own(service: Service) -> None:
    deliver(service, reservation())

    assert listed(service, "azure") == []


def test_a_filter_hides_other_owners_and_those_in_no_group(service: Service) -> None:
    strangers = [reservation(customer_id=DEST), reservation(customer_id="000000000009")]
    groups = furnish(service, reservation(), *strangers)
    narrowed = service.caller(RoleAction.ReadRi, billing_groups=[groups[OWNER]])

    assert [one["customer_id"] for one in listed(service, headers=narrowed)] == [OWNER]
    assert len(listed(service)) == 3


def test_a_moved_record_is_hidden_from_those_who_may_not_know_both(service: Service) -> None:
    groups = furnish(service)
    move(service, 3, DEST)
    move(service, 2, OTHER)

    def seen(*customers: str) -> list[tuple[str, int]]:
        company_ids = [groups[customer] for customer in customers]
        headers = service.caller(RoleAction.ReadRi, billing_groups=company_ids)
        answer = listed(service, headers=headers)
        return [(one["dest_customer_id"], one["number"]) for one in answer]

    assert seen(OWNER) == [("", 5)]
    assert seen(OWNER, DEST) == [("", 5), (DEST, 3)]
    assert seen(DEST) == []
    assert seen(OWNER, DEST, OTHER) == [("", 5), (DEST, 3), (OTHER, 2)]


def test_another_organisations_reservations_are_not_shown(service: Service) -> None:
    furnish(service)
    move(service)
    assert len(moved(service)) == 1

    service.organisation = service.new_organisation()

    assert listed(service) == []


@pytest.mark.parametrize(
    ("query", "rule"),
    [("", "required"), ("?vendor=gcp", "one of aws, azure"), ("?vendor=AWS", "one of aws, azure")],
)
def test_the_vendor_is_required_and_one_of_two(service: Service, query: str, rule: str) -> None:
    answer = service.http.get(PATH + query, headers=service.root())

    assert violations_of(answer) == [("vendor", rule)]
