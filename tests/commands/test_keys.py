"""nimbill keys list, rotate and drop"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nimbill.commands.keys import drop, list_, rotate
from nimbill.database.embedded_postgres import Address
from tests.command_line import environment
from tests.own_database import own_database
from tests.proof.real_server import nimbill

Keys = list[dict[str, str]]


@pytest.fixture
def data(
    postgres: Address, superuser: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """An installation of its own, named by the environment as for any command."""
    with own_database(postgres, superuser) as address:
        monkeypatch.setenv("NIMBILL_DATA", str(tmp_path))
        monkeypatch.setenv("NIMBILL_DATABASE_URL", address.url)
        yield tmp_path


@pytest.fixture
def shown(data: Path, capsys: pytest.CaptureFixture[str]) -> Shown:
    return Shown(capsys)


class Shown:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def keys(self) -> Keys:
        """What `nimbill keys list --json` prints: one JSON object and nothing else."""
        self._capsys.readouterr()
        list_(json=True)
        out, err = self._capsys.readouterr()
        assert err == ""
        keys: Keys = json.loads(out)["keys"]
        return keys

    def kid(self, product: str, state: str) -> str:
        (found,) = (
            key["kid"] for key in self.keys() if (key["product"], key["state"]) == (product, state)
        )
        return found

    def lines(self) -> list[str]:
        list_()
        return self._capsys.readouterr().out.splitlines()


def test_list_shows_product_state_since_when_and_kid(shown: Shown) -> None:
    keys = shown.keys()

    assert all(set(key) == {"kid", "product", "state", "since"} for key in keys)
    assert sorted((key["product"], key["state"]) for key in keys) == sorted(
        (product, state) for product in ("core", "portal", "legacy") for state in ("active", "next")
    )


def test_a_line_for_each_key_is_never_cut_in_two(shown: Shown) -> None:
    keys = shown.keys()

    lines = shown.lines()

    assert len(lines) == len(keys)
    for key, line in zip(keys, lines, strict=True):
        assert line.split() == [key["product"], key["state"], key["since"], key["kid"]]


def test_no_private_part_is_ever_shown(shown: Shown) -> None:
    assert "PRIVATE" not in json.dumps(shown.keys())


def test_rotate_needs_a_day_or_now(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    before = shown.keys()

    with pytest.raises(SystemExit) as refusal:
        rotate()

    assert refusal.value.code == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "published for less than a day" in said
    assert "--now" in said
    assert shown.keys() == before


def test_rotate_now_lets_the_next_keys_sign(
    shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    next_up = {product: shown.kid(product, "next") for product in ("core", "portal", "legacy")}

    rotate(now=True)

    assert capsys.readouterr().out == "rotated\n"
    for product, kid in next_up.items():
        assert shown.kid(product, "active") == kid
        assert shown.kid(product, "retired")


def test_rotate_one_product_leaves_the_others(shown: Shown) -> None:
    portal = shown.kid("portal", "active")

    rotate(product="core", now=True)

    assert shown.kid("portal", "active") == portal
    assert shown.kid("core", "retired")


def test_drop_removes_a_key_and_puts_its_successor_in_its_place(
    shown: Shown, capsys: pytest.CaptureFixture[str]
) -> None:
    active, next_up = shown.kid("core", "active"), shown.kid("core", "next")

    drop(active)

    assert capsys.readouterr().out == "dropped\n"
    assert active not in json.dumps(shown.keys())
    assert shown.kid("core", "active") == next_up


def test_drop_of_an_unknown_key_says_so(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refusal:
        drop("key_nobody")

    assert refusal.value.code == 1
    assert "there is no such key" in capsys.readouterr().err


def test_the_commands_are_there_for_a_shell(data: Path) -> None:
    env = environment(data, NIMBILL_DATABASE_URL=os.environ["NIMBILL_DATABASE_URL"])

    rotated = nimbill("keys", "rotate", "--product", "core", env=env)

    assert rotated.returncode == 1
    assert "--now" in rotated.stderr
