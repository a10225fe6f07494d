"""Bodies of billing administration, against the specification's own tables."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from nimbill.customers.billing_groups.bodies import BillingGroupUpdate, FreeFormatItem
from nimbill.customers.cloud_accounts.bodies import CloudAccountCreate, CloudAccountUpdate
from nimbill.customers.projects.bodies import ProjectBody
from nimbill.foundation.errors import Invalid
from nimbill.foundation.vendors import BilledVendor
from nimbill.foundation.vocabulary import Currency, Language
from nimbill.http.request_bodies import sound
from tests.contract.specification import section, specification, table
from tests.customers.billing_groups.test_free_format import ITEM
from tests.customers.cloud_accounts.accounts import AWS, AZURE
from tests.customers.projects.projects import PROJECT

Body = type[msgspec.Struct]

UPDATE = "Billing group update body"
ITEMS = "Free format item"
ACCOUNT = "Customer cloud account"
PROJECTS = "Project"

GROUP = {"billinggroup_id": "BG", "billinggroup_name": "name", "company_name": "company"}
ACCOUNTS = {
    "aws": AWS | {"company_id": "cmp_x"},
    "azure": AZURE | {"company_id": "cmp_x"},
}
TABLES: dict[str, tuple[Body, dict[str, Any]]] = {
    UPDATE: (BillingGroupUpdate, GROUP),
    ITEMS: (FreeFormatItem, ITEM),
    ACCOUNT: (CloudAccountCreate, ACCOUNTS["aws"]),
    PROJECTS: (ProjectBody, PROJECT),
}
SOUND_VALUES = {"string": ("text text text", 7), "boolean": (True, "true"), "double": (1, "1")}


def specified(heading: str) -> dict[str, list[str]]:
    """Type, whether required, and rule, by field."""
    return {row[0]: row[1:] for row in table(section(specification(), heading), "Field")}


def stands(body: Body, sent: dict[str, Any]) -> bool:
    try:
        sound(body, sent)
    except Invalid:
        return False
    return True


@pytest.mark.parametrize("heading", TABLES)
def test_a_body_has_the_rows_of_its_table_in_order(heading: str) -> None:
    body, _ = TABLES[heading]

    assert list(body.__struct_fields__) == list(specified(heading))


def test_an_update_of_an_account_has_the_rows_but_the_customer() -> None:
    rows = [field for field in specified(ACCOUNT) if field != "customer_id"]
    named = re.search(r"\| update \| addressed by `{customer_id}` \| (.*?) \|", specification())

    assert list(CloudAccountUpdate.__struct_fields__) == rows
    assert named is not None
    assert set(named[1].split(", ")) == set(rows)


@pytest.mark.parametrize("heading", TABLES)
def test_what_is_required_is_required_and_nothing_else(heading: str) -> None:
    body, whole = TABLES[heading]

    assert stands(body, whole)
    for field, (_, required, _) in specified(heading).items():
        without = {name: value for name, value in whole.items() if name != field}
        assert stands(body, without) is not required.startswith("Yes"), field
        assert stands(body, without | {field: None}) is not required.startswith("Yes"), field


@pytest.mark.parametrize("heading", TABLES)
def test_a_field_is_of_its_type(heading: str) -> None:
    body, whole = TABLES[heading]

    for field, (kind, _, rule) in specified(heading).items():
        right, wrong = SOUND_VALUES[kind]
        assert not stands(body, whole | {field: wrong}), field
        if not rule or rule in ("remarks", "internal billing group id"):
            assert stands(body, whole | {field: right}), field


@pytest.mark.parametrize("heading", TABLES)
def test_a_length_is_the_stated_one(heading: str) -> None:
    body, whole = TABLES[heading]
    lengths = {
        field: re.fullmatch(r"length (\d+) to (\d+)", rule)
        for field, (_, _, rule) in specified(heading).items()
    }

    for field, stated in lengths.items():
        if stated:
            least, most = int(stated[1]), int(stated[2])
            for length in (least, most):
                assert stands(body, whole | {field: "長" * length}), field
            assert not stands(body, whole | {field: "長" * (most + 1)}), field
            if least > 1:
                assert not stands(body, whole | {field: "長" * (least - 1)}), field
    assert (
        len([one for one in lengths.values() if one])
        == {
            UPDATE: 8,
            ITEMS: 1,
            ACCOUNT: 1,
            PROJECTS: 2,
        }[heading]
    )


@pytest.mark.parametrize(
    ("heading", "field", "words"),
    [
        (UPDATE, "language", Language),
        (ACCOUNT, "vendor", BilledVendor),
        (PROJECTS, "project_currency", Currency),
    ],
)
def test_the_words_are_the_stated_ones(heading: str, field: str, words: Any) -> None:
    _, _, rule = specified(heading)[field]

    assert re.findall(r"`(\w+)`", rule) == [word.value for word in words]


@pytest.mark.parametrize("field", ["customer_id", "account_id"])
def test_the_numbers_of_a_vendor_are_as_stated(field: str) -> None:
    """Of so many digits, or of so many characters whatever they are."""
    _, _, rule = specified(ACCOUNT)[field]
    stated = re.findall(r"vendor (\w+): .*? of (\d+)(?: to (\d+))? (digits|characters)", rule)

    assert [vendor for vendor, *_ in stated] == ["aws", "azure"]
    for vendor, least, most, what in stated:
        whole = ACCOUNTS[vendor]

        def allowed(text: str, whole: dict[str, Any] = whole) -> bool:
            return stands(CloudAccountCreate, whole | {field: text})

        edges = (int(least), int(most or least))
        assert all(allowed("0" * length) for length in edges)
        assert not allowed("0" * (edges[0] - 1))
        assert not allowed("0" * (edges[1] + 1))
        assert allowed("x" * edges[0]) is (what == "characters")


@pytest.mark.parametrize(
    ("limit", "to", "heading", "fields"),
    [
        ("Free format label", "free format item", ITEMS, ["label"]),
        ("Customer account name", "create, update", ACCOUNT, ["name"]),
        ("project_code, project_label", "project", PROJECTS, ["project_code", "project_label"]),
    ],
)
def test_the_limits_say_the_same(limit: str, to: str, heading: str, fields: list[str]) -> None:
    """Stated twice; if the two ever differ, somebody has to look."""
    rows = {(row[0], row[1]): row[2] for row in table(section(specification(), "Limits"), "Limit")}

    for field in fields:
        assert f"{specified(heading)[field][2]} characters" == f"length {rows[limit, to]}"
