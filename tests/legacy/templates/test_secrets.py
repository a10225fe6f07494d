"""Secrets of a template: masked, encrypted and restored."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nimbill.database.tenant_scope import Row
from nimbill.foundation import exact_json
from nimbill.foundation.encryption import DecryptionError, Encryptor
from nimbill.legacy.templates.secrets import (
    SECRET_NAMES,
    decrypt_secrets,
    encrypt_secrets,
    find_unresolved_masks,
    mask_secrets,
    read_masked_template,
    read_template_with_secrets,
    restore_secrets,
)
from tests.legacy.templates.template_requests import CRED, GIT_KEY, TEMPLATE, build_template

ENCRYPTOR = Encryptor(bytes(range(7, 39)))
PLACE = ("org_a", "stk_a", "ver_a")


def store(sent: dict[str, Any], place: tuple[str, str, str] = PLACE) -> Row:
    body, secrets = mask_secrets(sent)
    row = SimpleNamespace(
        organisation_id=place[0],
        stack_id=place[1],
        version_id=place[2],
        body=exact_json.encode(body).decode(),
        encrypted_secrets=encrypt_secrets(secrets, ENCRYPTOR, place),
    )
    return cast(Row, row)


def test_secrets_are_masked_and_other_values_unchanged() -> None:
    body, secrets = mask_secrets(TEMPLATE)

    assert body["vendor"] == {"aws": {"cred": "***", "region": "eu-west-1"}}
    assert body["configurations"][0]["container"]["gitPrivateKey"] == "***"
    assert body["configurations"][1] == TEMPLATE["configurations"][1]
    assert secrets == {
        "/vendor/aws/cred": CRED,
        "/configurations/web/container/gitPrivateKey": GIT_KEY,
    }
    assert TEMPLATE["vendor"]["aws"]["cred"] == CRED, "the argument is not changed"


@pytest.mark.parametrize("name", sorted(SECRET_NAMES))
def test_a_secret_is_found_at_any_depth_and_in_any_case(name: str) -> None:
    template = {
        "x": [{name: "s1", name.upper(): ["s2"]}],
        "a/b": {"~": {name.title(): {"k": "s3"}}},
    }

    body, secrets = mask_secrets(template)

    assert not [word for word in ("s1", "s2", "s3") if word in json.dumps(body)]
    assert list(secrets.values()) == ["s1", ["s2"], {"k": "s3"}]
    assert restore_secrets(body, secrets) == template


@pytest.mark.parametrize("field", ["environment_variables", "container_env_vars"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "hunter2"),
        ("db_passwd", "hunter2"),
        ("API_KEY", "hunter2"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("Github_Token", "hunter2"),
        ("GOOGLE_CREDENTIALS", "hunter2"),
        ("DATABASE_URL", "postgres://app:hunter2@db/shop"),
    ],
)
def test_environment_variables_that_look_like_secrets_are_masked(
    field: str, name: str, value: str
) -> None:
    template = {"container": {field: {name: value, "PORT": "8080", "HOME": "http://shop/a:b"}}}

    body, secrets = mask_secrets(template)

    assert body == {"container": {field: {name: "***", "PORT": "8080", "HOME": "http://shop/a:b"}}}
    assert secrets == {f"/container/{field}/{name}": value}
    assert restore_secrets(body, secrets) == template


def test_an_unresolved_mask_of_a_variable_is_refused_without_its_name() -> None:
    template = {"container": {"environment_variables": {"MY_TOKEN": "***", "PORT": "***"}}}

    (violation,) = find_unresolved_masks(template)

    assert violation.field == "environment_variables"


def test_empty_values_are_not_masked() -> None:
    template = {"cred": "", "password": None}

    assert mask_secrets(template) == (template, {})


def test_a_stored_version_is_restored_completely() -> None:
    row = store(TEMPLATE)

    assert read_template_with_secrets(row, ENCRYPTOR) == TEMPLATE
    assert read_masked_template(row) == mask_secrets(TEMPLATE)[0]
    for word in (CRED, GIT_KEY.splitlines()[1]):
        assert word not in row.body
        assert word.encode() not in row.encrypted_secrets


def test_secrets_are_bound_to_organisation_stack_and_version() -> None:
    row = store(TEMPLATE)
    for field, other in (
        ("organisation_id", "org_b"),
        ("stack_id", "stk_b"),
        ("version_id", "ver_b"),
    ):
        moved = SimpleNamespace(**(vars(row) | {field: other}))

        with pytest.raises(DecryptionError):
            read_template_with_secrets(cast(Row, moved), ENCRYPTOR)


def test_a_template_without_secrets_stores_none() -> None:
    row = store(build_template(vendor=None, configurations=[TEMPLATE["configurations"][1]]))

    assert row.encrypted_secrets is None
    assert decrypt_secrets(row, ENCRYPTOR) == {}


def test_masks_stay_after_the_secrets_were_deleted() -> None:
    row = SimpleNamespace(**(vars(store(TEMPLATE)) | {"encrypted_secrets": None}))

    assert read_template_with_secrets(cast(Row, row), ENCRYPTOR) == mask_secrets(TEMPLATE)[0]


def test_layers_keep_their_secrets_when_reordered() -> None:
    body, secrets = mask_secrets(TEMPLATE)
    reordered = body | {"configurations": body["configurations"][::-1]}

    found = restore_secrets(reordered, secrets)

    assert found["configurations"][1]["container"]["gitPrivateKey"] == GIT_KEY
    assert find_unresolved_masks(found) == []


def test_a_renamed_layer_loses_its_secrets() -> None:
    body, secrets = mask_secrets(TEMPLATE)
    body["configurations"][0]["flag"] = "front"

    found = restore_secrets(body, secrets)

    assert [each.field for each in find_unresolved_masks(found)] == ["gitPrivateKey"]


def test_layers_without_unique_flags_are_identified_by_index() -> None:
    template = {"configurations": [{"flag": "a", "cred": "x"}, {"flag": "a", "cred": "y"}, 3]}

    body, secrets = mask_secrets(template)

    assert secrets == {"/configurations/0/cred": "x", "/configurations/1/cred": "y"}
    assert restore_secrets(body, secrets) == template


def test_only_unresolved_masks_are_violations() -> None:
    assert find_unresolved_masks(TEMPLATE) == []
    assert [each.field for each in find_unresolved_masks(mask_secrets(TEMPLATE)[0])] == [
        "cred",
        "gitPrivateKey",
    ]


keys = st.sampled_from(["cred", "a/b", "~", "~1", "0", "", "password", "x", "configurations"])
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3) | st.just("***"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(keys, values, max_size=4))
def test_any_template_is_restored(sent: dict[str, Any]) -> None:
    body, secrets = mask_secrets(sent)

    assert restore_secrets(body, secrets) == sent
    assert mask_secrets(body)[0] == body
