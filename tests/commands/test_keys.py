"""`nimbill keys`: list, rotate and drop signing keys."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from nimbill.application.open_database import prepare_installation
from nimbill.database.embedded_postgres import Address
from tests.command_line import build_environment
from tests.commands.run_command import run_command

SigningKeys = list[dict[str, str]]


@pytest.fixture
def env(empty_database: Address, tmp_path: Path) -> dict[str, str]:
    """The environment of an installation with its own database."""
    asyncio.run(prepare_installation(empty_database.url, tmp_path / "key"))
    return build_environment(tmp_path, NIMBILL_DATABASE_URL=empty_database.url)


PRODUCTS = [
    "core",
    "portal",
    "legacy",  # version 3
]


def list_keys(env: Mapping[str, str]) -> SigningKeys:
    result = run_command("keys", "list", "--json", env=env)
    assert (result.returncode, result.stderr) == (0, "")
    keys: SigningKeys = json.loads(result.stdout)["keys"]
    return keys


def find_kid(keys: SigningKeys, product: str, state: str) -> str:
    (kid,) = (key["kid"] for key in keys if (key["product"], key["state"]) == (product, state))
    return kid


def test_list_shows_two_keys_of_each_product_and_nothing_private(env: Mapping[str, str]) -> None:
    keys = list_keys(env)

    assert all(set(key) == {"kid", "product", "state", "since"} for key in keys)
    assert sorted((key["product"], key["state"]) for key in keys) == sorted(
        (product, state) for product in PRODUCTS for state in ("active", "next")
    )
    assert "PRIVATE" not in json.dumps(keys)


def test_text_output_has_one_unbroken_line_per_key(env: Mapping[str, str]) -> None:
    keys = list_keys(env)

    header, *lines = run_command("keys", "list", env=env).stdout.splitlines()

    assert header.split() == ["product", "state", "since", "kid"]
    for key, line in zip(keys, lines, strict=True):
        product, state, since, kid = line.split()
        assert (product, state, kid) == (key["product"], key["state"], key["kid"])
        assert since[:19] == key["since"][:19]


def test_rotate_is_refused_within_a_day(env: Mapping[str, str]) -> None:
    before = list_keys(env)

    result = run_command("keys", "rotate", env=env)

    assert result.returncode == 1
    assert "less than a day" in result.stderr
    assert "--now" in result.stderr
    assert list_keys(env) == before


def test_rotate_now_makes_the_next_keys_active(env: Mapping[str, str]) -> None:
    before = list_keys(env)

    result = run_command("keys", "rotate", "--now", env=env)

    assert (result.returncode, result.stdout) == (0, "The keys were rotated.\n")
    after = list_keys(env)
    for product in PRODUCTS:
        assert find_kid(after, product, "active") == find_kid(before, product, "next")
        assert find_kid(after, product, "retired") == find_kid(before, product, "active")


def test_rotating_one_product_keeps_the_keys_of_others(env: Mapping[str, str]) -> None:
    before = list_keys(env)

    run_command("keys", "rotate", "--product", "core", "--now", env=env)

    after = list_keys(env)
    assert find_kid(after, "portal", "active") == find_kid(before, "portal", "active")
    assert find_kid(after, "core", "retired")


def test_drop_replaces_the_key_by_its_successor(env: Mapping[str, str]) -> None:
    before = list_keys(env)
    active = find_kid(before, "core", "active")

    result = run_command("keys", "drop", active, env=env)

    assert (result.returncode, result.stdout) == (0, "The key was dropped.\n")
    after = list_keys(env)
    assert active not in json.dumps(after)
    assert find_kid(after, "core", "active") == find_kid(before, "core", "next")


def test_dropping_an_unknown_key_is_refused(env: Mapping[str, str]) -> None:
    result = run_command("keys", "drop", "key_unknown", env=env)

    assert result.returncode == 1
    assert "No key has this id." in result.stderr
