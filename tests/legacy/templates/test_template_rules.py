"""The rules of a template, each violated separately, and its containers."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from nimbill.legacy.templates.template_rules import (
    COUNT_MAX,
    INSTANCES_MAX,
    LAYERS_MAX,
    VARIABLES_MAX,
    complete_provision,
    find_template_violations,
    merge_container_fields,
)
from tests.legacy.templates.template_requests import TEMPLATE, build_template

PROVISION = TEMPLATE["configurations"][1]["provision"]


def find_violations(sent: dict[str, Any], *, creating: bool = True) -> list[tuple[str, str]]:
    return [(each.field, each.rule) for each in find_template_violations(sent, creating=creating)]


def with_layer(**changes: Any) -> dict[str, Any]:
    """The valid template with a changed first layer; None removes a field."""
    template = copy.deepcopy(TEMPLATE)
    layer = template["configurations"][0] | changes
    template["configurations"][0] = {
        name: value for name, value in layer.items() if value is not None
    }
    return template


def with_provision(**changes: Any) -> dict[str, Any]:
    return with_layer(provision={**PROVISION, **changes})


def with_container(**fields: Any) -> dict[str, Any]:
    return with_layer(container=fields)


def build_layers(number: int, instances: int = 1) -> list[dict[str, Any]]:
    return [
        {
            "role": "r",
            "flag": f"f{index}",
            "provision": PROVISION | {"instance_count": instances},
        }
        for index in range(number)
    ]


def test_the_valid_template_has_no_violations() -> None:
    assert find_violations(TEMPLATE) == []
    assert find_violations(TEMPLATE, creating=False) == []


@pytest.mark.parametrize("version", ["2026-02-29", "2026-13-01", "26-01-01", "2026/01/01", 2026])
def test_the_version_is_a_date(version: Any) -> None:
    assert find_violations(build_template(version=version)) == [
        ("version", "a date such as 2026-11-15")
    ]


@pytest.mark.parametrize("version", ["2026-11-15", "20261115", "2026-11-15T10:00:00+09:00"])
def test_every_iso_8601_date_is_accepted(version: str) -> None:
    assert find_violations(build_template(version=version)) == []


def test_version_and_label_are_required() -> None:
    assert find_violations(build_template(version=None, label=None)) == [
        ("version", "required"),
        ("label", "required"),
    ]


@pytest.mark.parametrize("label", ["", "x" * 101, 7, ["shop"]])
def test_a_label_has_1_to_100_characters(label: Any) -> None:
    assert find_violations(build_template(label=label)) == [("label", "length 1 to 100")]
    assert find_violations(build_template(label="x" * 100)) == []


def test_a_description_is_an_optional_string() -> None:
    assert find_violations(build_template(description=None)) == []
    assert find_violations(build_template(description="")) == []
    assert find_violations(build_template(description=1)) == [("description", "a string")]


@pytest.mark.parametrize("vendor", [None, "aws", {}, {"gcp": {}}, {"aws": "key"}, {"aws": None}])
def test_the_vendor_section_is_required_for_creation_only(vendor: Any) -> None:
    sent = build_template(vendor=vendor)

    assert find_violations(sent) == [("vendor", "an object that contains an object aws")]
    assert find_violations(sent, creating=False) == [], "updates ignore it"


@pytest.mark.parametrize("cred", ["", 5, {"key": "x"}, "x" * 4_097])
def test_the_credential_is_a_string(cred: Any) -> None:
    vendor = {"aws": {"cred": cred, "region": "eu-west-1"}}

    assert find_violations(build_template(vendor=vendor)) == [
        ("vendor.aws.cred", "length 1 to 4096")
    ]


@pytest.mark.parametrize("region", ["eu-west-1", "ap-northeast-1", "us-gov-east-1", "cn-north-1"])
def test_regions_are_accepted(region: str) -> None:
    assert find_violations(build_template(vendor={"aws": {"cred": "c", "region": region}})) == []


@pytest.mark.parametrize("region", ["", "Tokyo", "eu-west", "EU-WEST-1", "eu-west-1/x", 3])
def test_malformed_regions_are_refused(region: Any) -> None:
    vendor = {"aws": {"cred": "c", "region": region}}

    assert find_violations(build_template(vendor=vendor)) == [
        ("vendor.aws.region", "a region such as eu-west-1")
    ]


def test_sections_of_other_vendors_are_allowed() -> None:
    vendor = {"aws": {"cred": "c", "region": "eu-west-1"}, "gcp": {"project": "p"}}

    assert find_violations(build_template(vendor=vendor)) == []


@pytest.mark.parametrize("configurations", [None, [], {}, "web", build_layers(LAYERS_MAX + 1)])
def test_there_are_1_to_20_layers(configurations: Any) -> None:
    assert find_violations(build_template(configurations=configurations)) == [
        ("configurations", "a list of 1 to 20 layers")
    ]
    assert find_violations(build_template(configurations=build_layers(LAYERS_MAX))) == []


def test_a_layer_is_an_object_and_other_layers_are_checked_too() -> None:
    sent = build_template(
        configurations=["web", {"role": "r", "flag": "\n", "provision": PROVISION}]
    )

    assert [field for field, _ in find_violations(sent)] == [
        "configurations[0]",
        "configurations[1].flag",
    ]


def test_role_and_flag_are_required() -> None:
    assert find_violations(with_layer(role=None, flag=None)) == [
        ("configurations[0].role", "required"),
        ("configurations[0].flag", "required"),
    ]


@pytest.mark.parametrize("flag", ["", "x" * 65, "web\nserver", "\x7f", 3, ["web"]])
def test_a_flag_has_1_to_64_printable_characters(flag: Any) -> None:
    rule = "1 to 64 printable characters"

    assert find_violations(with_layer(flag=flag)) == [("configurations[0].flag", rule)]


@pytest.mark.parametrize("flag", ["Web_1-a", "web server", "web/1", "店"])
def test_a_flag_may_contain_any_printable_character(flag: str) -> None:
    assert find_violations(with_layer(flag=flag)) == []


def test_a_provision_is_an_optional_object() -> None:
    assert find_violations(with_layer(provision=None)) == []
    assert find_violations(with_layer(provision="t3.small")) == [
        ("configurations[0].provision", "an object")
    ]


def test_flags_are_unique() -> None:
    assert find_violations(with_layer(flag="db")) == [
        ("configurations[1].flag", "different from the flags of all other layers")
    ]


@pytest.mark.parametrize("field", ["image", "volume_type", "instance_type"])
@pytest.mark.parametrize("value", ["", 7, True, "x" * 101])
def test_strings_of_a_provision_have_1_to_100_characters(field: str, value: Any) -> None:
    assert find_violations(with_provision(**{field: value})) == [
        (f"configurations[0].provision.{field}", "length 1 to 100")
    ]
    assert find_violations(with_provision(**{field: "${computed}"})) == []


@pytest.mark.parametrize("count", [-1, COUNT_MAX + 1, "2", True, 10**30])
def test_an_instance_count_is_a_whole_number(count: Any) -> None:
    assert find_violations(with_provision(instance_count=count)) == [
        ("configurations[0].provision.instance_count", "a whole number from 0 to 100")
    ]
    assert find_violations(with_provision(instance_count=0)) == []


@pytest.mark.parametrize("keypair", ["yes", 1, "true"])
def test_a_keypair_is_true_or_false(keypair: Any) -> None:
    assert find_violations(with_provision(keypair=keypair)) == [
        ("configurations[0].provision.keypair", "true or false")
    ]


def test_missing_values_of_a_provision_have_defaults() -> None:
    assert (
        find_violations(with_layer(provision={"instance_type": "m5.large", "keypair": None})) == []
    )
    assert complete_provision({"provision": {"instance_type": "m5.large", "keypair": None}}) == {
        "image": "${computed}",
        "volume_type": "${computed}",
        "instance_type": "m5.large",
        "instance_count": 1,
        "keypair": False,
    }


def test_a_layer_without_provision_has_no_instances() -> None:
    assert complete_provision({})["instance_count"] == 0
    assert complete_provision({"provision": {}})["instance_count"] == 1


def test_there_are_at_most_200_instances() -> None:
    assert find_violations(build_template(configurations=build_layers(2, 100))) == []
    assert find_violations(
        build_template(configurations=[*build_layers(2, 100), build_layers(3)[2]])
    ) == [("configurations", f"at most {INSTANCES_MAX} instances in total")]


def test_unspecified_fields_are_allowed() -> None:
    assert find_violations(with_provision(spot=True, tags={"a": 1})) == []
    assert find_violations(build_template(more={"of": "this"})) == []


# ── containers ───────────────────────────────────────────────────────────────────────────────────


def test_a_container_is_an_optional_object() -> None:
    assert find_violations(with_layer(container="nginx")) == [
        ("configurations[0].container", "an object")
    ]
    assert find_violations(with_layer(container=None)) == []
    assert find_violations(with_layer(container={})) == []


@pytest.mark.parametrize("field", ["image", "gitReference", "gitPrivateKey", "container_git_repo"])
def test_fields_of_a_container_are_strings(field: str) -> None:
    assert find_violations(with_container(**{field: 5})) == [
        (f"configurations[0].container.{field}", "a string")
    ]
    assert find_violations(with_container(**{field: "x"})) == []
    assert find_violations(with_container(**{field: None})) == []


def test_a_field_is_given_under_one_name_only() -> None:
    rule = "absent if container.image is given"

    assert find_violations(with_container(image="a", container_image="a")) == [
        ("configurations[0].container.container_image", rule)
    ]
    assert find_violations(with_layer(container={"image": "a"}, container_image="a")) == [
        ("configurations[0].container_image", rule)
    ]


def test_alternative_names_may_be_given_in_the_layer_itself() -> None:
    flat = {"container_image": "i", "container_env_vars": {"A": "1"}}

    assert find_violations(with_layer(container=None, **flat)) == []
    assert find_violations(with_layer(container=None, container_git_repo=5)) == [
        ("configurations[0].container_git_repo", "a string")
    ]
    assert merge_container_fields({"container_image": "i", "container_git_private_key": "k"}) == {
        "image": "i",
        "gitPrivateKey": "k",
    }


@pytest.mark.parametrize("field", ["environment_variables", "container_env_vars"])
def test_environment_variables_are_strings_by_name(field: str) -> None:
    at = f"configurations[0].container.{field}"
    too_many = {f"V{number}": "" for number in range(VARIABLES_MAX + 1)}

    assert find_violations(with_container(**{field: {"A": "1", "B": ""}})) == []
    assert find_violations(with_container(**{field: {"A": 1}})) == [(at, "strings by name")]
    for wrong in (["A=1"], too_many):
        assert find_violations(with_container(**{field: wrong})) == [
            (at, "an object of at most 200 variables")
        ]


def test_alternative_names_become_the_specified_ones() -> None:
    container = {
        "container_image": "i",
        "container_env_vars": {"A": "1"},
        "gitReference": "main",
        "container_git_private_key": "k",
        "container_git_repo": None,
        "more": "ignored",
    }

    assert merge_container_fields({"container": container}) == {
        "image": "i",
        "environment_variables": {"A": "1"},
        "gitReference": "main",
        "gitPrivateKey": "k",
    }


def test_a_layer_without_container_has_none() -> None:
    assert merge_container_fields({}) is None
    assert merge_container_fields({"container": None}) is None


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("container_registry_username", 7, "a string"),
        ("container_ports", ["80"], "a list of at most 100 numbers from 1 to 65535"),
        ("container_ports", [0], "a list of at most 100 numbers from 1 to 65535"),
        ("container_ports", [True], "a list of at most 100 numbers from 1 to 65535"),
        ("container_ports", [80] * 101, "a list of at most 100 numbers from 1 to 65535"),
        (
            "container_users",
            [{"name": "ops"}],
            "a list of at most 100 objects with the strings name and publicKey",
        ),
        ("container_addons", [{}], "a list of at most 100 strings"),
        (
            "container_storage",
            {"type": "ebs", "id": 1, "mountpath": "/"},
            "an object with the strings type, id and mountpath",
        ),
    ],
)
def test_fields_for_published_agents_have_types(name: str, value: Any, rule: str) -> None:
    layer = {"role": "r", "flag": "web", "container": {name: value}}

    assert find_violations(build_template(configurations=[layer])) == [
        (f"configurations[0].container.{name}", rule)
    ]


def test_a_field_for_published_agents_is_given_once() -> None:
    layer = {
        "role": "r",
        "flag": "web",
        "container": {"container_ports": [80]},
        "container_ports": [81],
    }

    assert find_violations(build_template(configurations=[layer])) == [
        ("configurations[0].container_ports", "absent if container.container_ports is given")
    ]
