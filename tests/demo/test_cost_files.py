"""The demo's cost files: the same at every start, whole or absent, and of the story's accounts."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from nimbill.costs.delivery import Limits, deliver
from nimbill.demo import cost_writing
from nimbill.demo.cost_chapters import NEIGHBOUR, NEIGHBOURS_ACCOUNT, OWNER, OWNERS_ACCOUNT
from nimbill.demo.cost_files import DELIVERIES, INVOICED, CostDelivery
from nimbill.demo.cost_writing import LINES, STRAYS, write_cost_files
from nimbill.demo.estate import accounts_of
from nimbill.demo.story import AOZORA


def digests(inbox: Path) -> dict[str, str]:
    return {
        str(file.relative_to(inbox)): sha256(file.read_bytes()).hexdigest()
        for file in inbox.rglob("*")
        if file.is_file()
    }


def test_they_are_the_same_in_every_demo(tmp_path: Path) -> None:
    for inbox in ("one", "other"):
        write_cost_files(tmp_path / inbox)

    assert digests(tmp_path / "one") == digests(tmp_path / "other")
    assert sum(LINES[one.vendor] for one in DELIVERIES) < 5_000


def test_a_folder_that_was_cut_off_is_written_again_and_a_whole_one_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = cost_writing._write

    def cut_off(delivery: CostDelivery, folder: Path) -> None:
        write(delivery, folder)
        if delivery is DELIVERIES[1]:
            raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(cost_writing, "_write", cut_off)
        with pytest.raises(KeyboardInterrupt):
            write_cost_files(tmp_path)
    assert not (tmp_path / DELIVERIES[1].place).exists()
    (tmp_path / DELIVERIES[0].place / "report-00001.csv.gz").write_bytes(b"the user's own")

    write_cost_files(tmp_path)

    assert (
        tmp_path / DELIVERIES[0].place / "report-00001.csv.gz"
    ).read_bytes() == b"the user's own"
    assert all((tmp_path / one.place).is_dir() for one in (*DELIVERIES, INVOICED))
    assert not list(tmp_path.rglob(".*"))


def test_the_invoiced_month_is_a_later_version_of_the_provisional_one(tmp_path: Path) -> None:
    write_cost_files(tmp_path)
    (first,) = [
        one for one in DELIVERIES if (one.vendor, one.month) == (INVOICED.vendor, INVOICED.month)
    ]
    assert first.invoice is None
    assert INVOICED.invoice is not None

    delivered = [
        deliver(
            [str(tmp_path / one.place)],
            spool=tmp_path,
            month=None,
            limits=Limits(),
            tell=lambda _: None,
        )
        for one in (first, INVOICED)
    ]

    earlier, later = delivered
    assert earlier.month == later.month == INVOICED.month
    assert earlier.identity != later.identity
    assert earlier.assembled_at is not None
    assert later.assembled_at is not None
    assert earlier.assembled_at < later.assembled_at


def test_strays_are_nobodys_and_the_others_are_of_the_story() -> None:
    known = {
        account.customer_id: customer
        for place, customer in enumerate(AOZORA.customers, start=1)
        for account in accounts_of(customer, place)
    }

    assert known.keys().isdisjoint(STRAYS.values())
    assert known[OWNERS_ACCOUNT] is OWNER
    assert known[NEIGHBOURS_ACCOUNT] is NEIGHBOUR
