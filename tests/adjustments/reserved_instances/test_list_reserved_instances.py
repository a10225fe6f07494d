"""GET /m/core/ri/purchased"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.adjustments.reserved_instances.fee_records import reservation_fees
from nimbill.adjustments.reserved_instances.operations import MonthlyReservation
from nimbill.foundation import clock
from tests.adjustments.reserved_instances.reservations import (
    ARN,
    DEST,
    OTHER,
    OWNER,
    PATH,
    PAYER,
    build_reservation,
    create_customers,
    get_owner_record,
    import_reservations,
    list_moved_records,
    list_numbers,
    list_records,
    move_instances,
)
from tests.costs.months.month_requests import run_in_transaction
from tests.customers.cloud_accounts.accounts import AZURE, add_account
from tests.problem_responses import read_violations
from tests.running_service import Service

DETAILS = ("currency", "dest_customer_name", "dest_company_id")


def test_a_reservation_is_shown_with_every_specified_field(service: Service) -> None:
    create_customers(service)

    (record,) = list_records(service, headers=service.caller(RoleAction.ReadRi))

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


def test_a_moved_record_follows_its_original(service: Service) -> None:
    create_customers(service)
    move_instances(service, 3)

    original, split_off = list_records(service)

    assert original["number"] == 7
    assert split_off["id"].startswith("ri_")
    assert split_off["id"] != original["id"]
    assert split_off == original | {
        "id": split_off["id"],
        "number": 3,
        "dest_customer_id": DEST,
        "remove": True,
    }


def test_numbers_keep_the_digits_of_the_vendor(service: Service) -> None:
    import_reservations(
        service, build_reservation(unblended_rate="0.0786123456789012345678", upfront_value="1E3")
    )

    response = service.http.get(f"{PATH}?vendor=aws", headers=service.root())

    (record,) = json.loads(response.text, parse_float=Decimal, parse_int=Decimal)
    assert record["unblended_rate"] == Decimal("0.0786123456789012345678")
    assert record["upfront_value"] == 1000
    assert record["number"] == 10


def test_an_azure_record_has_the_id_of_its_reservation(service: Service) -> None:
    """Values that Azure's files do not contain are empty texts or 0."""
    reservation = MonthlyReservation(
        reservation_id=AZURE["customer_id"],
        customer_id=AZURE["customer_id"],
        payer_id=PAYER,
        fee=Decimal(1),
        currency="USD",
        number=0,
    )
    import_reservations(service, reservation, vendor="azure")
    company_id = create_customers(service)[OWNER]
    add_account(service, company_id, **AZURE)

    (record,) = list_records(service, "azure")

    filled_fields = {name for name, value in record.items() if value not in ("", 0)}
    assert record["id"] == AZURE["customer_id"]
    assert record["arn"] == ""
    assert record["billinggroup_id"] == f"BG-{OWNER}"
    assert filled_fields == {
        *("billinggroup_id", "billinggroup_name", "customer_id", "customer_name"),
        *("id", "paid_by", "vendor", "disabled"),
    }
    number_fields = ("normalization_factor", "number", "unblended_rate", "upfront_value")
    assert [record[name] for name in number_fields] == [0, 0, 0, 0]


def test_an_owner_in_no_group_has_empty_names(service: Service) -> None:
    import_reservations(service, build_reservation())

    (record,) = list_records(service)

    names = ("billinggroup_id", "billinggroup_name", "customer_name")
    assert [record[name] for name in names] == ["", "", ""]
    assert record["customer_id"] == OWNER


def test_a_record_without_remaining_instances_is_disabled(service: Service) -> None:
    create_customers(service)
    move_instances(service, 9)
    assert [record["disabled"] for record in list_records(service)] == [False, False]

    move_instances(service, 1, OTHER)

    assert list_numbers(service) == [0, 9, 1]
    assert [record["disabled"] for record in list_records(service)] == [True, False, False]


def test_an_expired_reservation_is_disabled(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = datetime(2030, 5, 1, 12, 0, tzinfo=UTC)
    create_customers(service, build_reservation(end=end.isoformat()))
    move_instances(service, 4)
    headers = service.root()

    for moment, over in ((end - timedelta(seconds=1), False), (end, True)):
        monkeypatch.setattr(
            "nimbill.adjustments.reserved_instances.routes.now", lambda moment=moment: moment
        )
        assert [record["disabled"] for record in list_records(service, headers=headers)] == [
            over,
            over,
        ]
    assert clock.now() < end


def test_a_reservation_without_an_end_never_expires(service: Service) -> None:
    import_reservations(service, build_reservation(start="", end="not known"))

    assert (get_owner_record(service)["start"], get_owner_record(service)["end"]) == ("", "")
    assert get_owner_record(service)["disabled"] is False


def test_records_are_sorted_by_owner_and_reservation(service: Service) -> None:
    owners = [("b", OWNER), ("a", OWNER), ("c", DEST)]
    import_reservations(
        service, *(build_reservation(reservation_id=ri, customer_id=owner) for ri, owner in owners)
    )

    found = [(record["customer_id"], record["arn"]) for record in list_records(service)]

    assert found == [(DEST, "c"), (OWNER, "a"), (OWNER, "b")]


def test_a_reservation_of_two_owners_is_two_records(service: Service) -> None:
    import_reservations(service, build_reservation(), build_reservation(customer_id=DEST))

    assert len({record["id"] for record in list_records(service)}) == 2


def test_reservations_of_another_vendor_are_not_listed(service: Service) -> None:
    import_reservations(service, build_reservation())

    assert list_records(service, "azure") == []


def test_restricted_users_see_only_owners_in_their_billing_groups(service: Service) -> None:
    others = [build_reservation(customer_id=DEST), build_reservation(customer_id="000000000009")]
    groups = create_customers(service, build_reservation(), *others)
    restricted = service.caller(RoleAction.ReadRi, billing_groups=[groups[OWNER]])

    assert [record["customer_id"] for record in list_records(service, headers=restricted)] == [
        OWNER
    ]
    assert len(list_records(service)) == 3


def test_a_moved_record_is_visible_only_to_users_who_see_both_customers(service: Service) -> None:
    groups = create_customers(service)
    move_instances(service, 3, DEST)
    move_instances(service, 2, OTHER)

    def list_visible(*customers: str) -> list[tuple[str, int]]:
        company_ids = [groups[customer] for customer in customers]
        headers = service.caller(RoleAction.ReadRi, billing_groups=company_ids)
        response = list_records(service, headers=headers)
        return [(record["dest_customer_id"], record["number"]) for record in response]

    assert list_visible(OWNER) == [("", 5)]
    assert list_visible(OWNER, DEST) == [("", 5), (DEST, 3)]
    assert list_visible(DEST) == []
    assert list_visible(OWNER, DEST, OTHER) == [("", 5), (DEST, 3), (OTHER, 2)]


def test_reservations_of_another_organisation_are_not_listed(service: Service) -> None:
    create_customers(service)
    move_instances(service)
    assert len(list_moved_records(service)) == 1

    service.organisation = service.new_organisation()

    assert list_records(service) == []


@pytest.mark.parametrize(
    ("query", "rule"),
    [("", "required"), ("?vendor=gcp", "one of aws, azure"), ("?vendor=AWS", "one of aws, azure")],
)
def test_the_vendor_is_required_and_must_be_aws_or_azure(
    service: Service, query: str, rule: str
) -> None:
    response = service.http.get(PATH + query, headers=service.root())

    assert read_violations(response) == [("vendor", rule)]


def test_details_add_the_currency_and_who_holds_moved_instances(service: Service) -> None:
    company_ids = create_customers(service, build_reservation(currency="JPY"))
    assert move_instances(service, 4, DEST).status_code == 200

    owned, moved = service.http.get(
        f"{PATH}?vendor=aws&details=true", headers=service.root()
    ).json()

    assert [owned[name] for name in DETAILS] == ["JPY", "", ""]
    assert [moved[name] for name in DETAILS] == ["JPY", f"name of {DEST}", company_ids[DEST]]
    assert all(not set(DETAILS) & record.keys() for record in list_records(service))


def test_a_reservation_without_a_fee_has_no_currency(service: Service) -> None:
    create_customers(service)
    run_in_transaction(service, lambda db, _: db.execute(sa.delete(reservation_fees)))

    (record,) = service.http.get(f"{PATH}?vendor=aws&details=true", headers=service.root()).json()

    assert record["currency"] == ""
