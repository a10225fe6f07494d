"""The rules of the settings `vendors` and `provider_names`."""

from __future__ import annotations

import pytest

from nimbill.customers.organisation_settings.bodies import OrganisationSettingsChange
from nimbill.customers.organisation_settings.vendor_rules import (
    PROVIDERS_MAX,
    VENDORS_MAX,
    find_vendor_violations,
)
from nimbill.foundation.vendor_names import (
    NAME_RULE,
    label_vendor,
    list_provider_names,
    list_readable_vendors,
)
from tests.body_violations import find_body_violations

ORACLE = {"oracle": ["Oracle", "Oracle Cloud Infrastructure"]}
MANY = [f"v{number}" for number in range(VENDORS_MAX)]


@pytest.mark.parametrize(
    ("vendors", "names"),
    [
        (["aws", "azure"], {}),
        (["gcp"], {}),
        (["gcp"], {"gcp": ["Google Cloud EMEA Limited", "Google"]}),
        (["azure", "oracle"], ORACLE),
        (MANY, {name: [name] for name in MANY}),
        (["oracle"], {"oracle": [f"name {number}" for number in range(PROVIDERS_MAX)]}),
    ],
)
def test_valid_settings(vendors: list[str], names: dict[str, list[str]]) -> None:
    assert list(find_vendor_violations(vendors, names)) == []


@pytest.mark.parametrize(
    ("vendors", "names", "field", "rule"),
    [
        ([], {}, "vendors", "1 to 20 vendors"),
        ([*MANY, "aws"], {name: [name] for name in MANY}, "vendors", "1 to 20 vendors"),
        (["aws", "gcp", "aws"], {}, "vendors", "each vendor once"),
        (["total"], {"total": ["Total"]}, "vendors", "none called total"),
        (
            ["oracle"],
            {},
            "provider_names",
            "an entry for each vendor other than aws, azure, gcp",
        ),
        (
            ["oracle"],
            {"oracle": []},
            "provider_names",
            "an entry for each vendor other than aws, azure, gcp",
        ),
        (["aws"], ORACLE, "provider_names", "keys: one of vendors"),
        (
            ["aws", "oracle"],
            {"oracle": ["AMAZON"]},
            "provider_names",
            "names that no other vendor has",
        ),
        (
            ["aa", "bb"],
            {"aa": ["One"], "bb": ["one"]},
            "provider_names",
            "names that no other vendor has",
        ),
        (
            ["aa"],
            {"aa": [" One"]},
            "provider_names",
            "printable names without spaces around them",
        ),
        (
            ["aa"],
            {"aa": ["a\tb"]},
            "provider_names",
            "printable names without spaces around them",
        ),
        (
            ["aa"],
            {"aa": [f"name {number}" for number in range(PROVIDERS_MAX + 1)]},
            "provider_names",
            "at most 20 names for a vendor",
        ),
    ],
)
def test_broken_rules(
    vendors: list[str], names: dict[str, list[str]], field: str, rule: str
) -> None:
    assert list(find_vendor_violations(vendors, names)) == [(field, rule)]


@pytest.mark.parametrize("name", ["a", "Oracle", "1x", "x_y", "-x", "x" * 32, "", "x\n", "é1"])
def test_a_name_of_a_vendor_is_short_and_in_lower_case(name: str) -> None:
    violations = find_body_violations(OrganisationSettingsChange, {"vendors": ["aws", name]})

    assert violations == [("vendors[1]", NAME_RULE)]


def test_provider_names_are_texts_of_up_to_100_characters() -> None:
    names = {"oracle": ["", "x" * 101, 7], "Oracle": ["x"]}

    assert find_body_violations(OrganisationSettingsChange, {"provider_names": names}) == [
        ("provider_names[0]", "length 1 to 100"),
        ("provider_names[1]", "length 1 to 100"),
        ("provider_names[2]", "length 1 to 100"),
        ("provider_names", f"keys: {NAME_RULE}"),
    ]


def test_provider_names_of_the_settings_are_added_to_known_ones() -> None:
    assert list_provider_names("oracle", ORACLE) == ["oracle", "oracle cloud infrastructure"]
    names = list_provider_names("gcp", {"gcp": ["Google", "Google Ireland"]})
    assert (names[0], names[-1], len(set(names))) == ("google", "google ireland", len(names))
    assert list_provider_names("unknown", {}) == []


@pytest.mark.parametrize(
    ("vendor", "label"),
    [("aws", "AWS"), ("azure", "Azure"), ("gcp", "GCP"), ("oracle", "Oracle"), ("ibm", "IBM")],
)
def test_the_label_of_a_vendor(vendor: str, label: str) -> None:
    assert label_vendor(vendor, ORACLE) == label


def test_costs_of_known_vendors_can_always_be_requested() -> None:
    assert list_readable_vendors(["oracle", "aws"]) == ["aws", "azure", "gcp", "oracle"]
