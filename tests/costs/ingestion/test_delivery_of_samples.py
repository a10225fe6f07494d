"""Deliveries from real folders of the vendors."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.delivery import fetch_delivery
from nimbill.costs.ingestion.parts import Delivery, Limits
from tests.costs.inbox import part_names, read_text

DATA = Path(__file__).parents[4] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the sample files are not beside this checkout"
)

ASSEMBLY = "16e57707-f9e3-49be-8be6-b84e684b5194"


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    folder = tmp_path / "spool"
    folder.mkdir()
    return folder


def fetch(source: Path, spool: Path, month: str | None = None) -> Delivery:
    return fetch_delivery(
        [str(source)], spool=spool, month=month, limits=Limits(), notify=lambda _: None
    )


def count_lines(delivery: Delivery) -> list[int]:
    return [read_text(part).count(b"\n") for part in delivery.parts]


@pytest.mark.parametrize(
    "source", ["", "koku-local", "koku-local/20180801-20180901", "koku-local/20180801-20180901/{}"]
)
def test_an_aws_bucket_can_be_read_from_each_of_its_folders(spool: Path, source: str) -> None:
    delivery = fetch(DATA / "aws/koku/bucket" / source.format(ASSEMBLY), spool)

    assert (delivery.assembly, delivery.month) == (ASSEMBLY, "2018-08")
    assert [part.path.name for part in delivery.parts] == ["koku-local-1.csv.gz"]
    assert count_lines(delivery) == [13_381]


def test_files_that_the_manifest_does_not_list_are_ignored(spool: Path) -> None:
    """Three of six files; the others contain the same lines in their final state."""
    delivery = fetch(DATA / "aws/nise", spool)

    assert part_names(delivery) == [f"September-2026-cur-{number}.csv.gz" for number in (1, 2, 3)]
    assert (delivery.month, count_lines(delivery)) == ("2026-09", [3_001, 3_001, 481])


def test_legacy_and_cur2_manifests_with_zip_and_gzip_files(spool: Path, tmp_path: Path) -> None:
    keboola = DATA / "aws/keboola"
    for name in ("cur_1_0_cur1_manifest.json", "cur_2_0_cur2_manifest.json"):
        shutil.copy(keboola / name, tmp_path / name)
    shutil.copy(
        keboola / "cur_1_0_MockTestReport-00001.csv.zip", tmp_path / "MockTestReport-00001.csv.zip"
    )
    folder = tmp_path / "data" / "BILLING_PERIOD=2024-09"
    folder.mkdir(parents=True)
    shutil.copy(
        keboola / "cur_2_0_MockTestReportV2-00001.csv.gz", folder / "MockTestReportV2-00001.csv.gz"
    )

    first, second = (fetch(tmp_path, spool, month) for month in ("2024-01", "2024-09"))

    assert first.assembly == "123e4567-e89b-12d3-a456-426614174000"
    assert read_text(first.parts[0]) == (keboola / "cur_1_0_sample_billing_data.csv").read_bytes()
    assert second.assembly == "987f6543-a21b-43c7-d654-321098765432"
    assert (
        read_text(second.parts[0]) == (keboola / "cur_2_0_sample_billing_data_v2.csv").read_bytes()
    )
    with pytest.raises(CostFileError, match="several_months"):
        fetch(tmp_path, spool)


def test_parquet_and_plain_files_are_read_in_place(spool: Path) -> None:
    file_types = [part.file_type for part in fetch(DATA / "aws/wa-labs", spool).parts]
    assert file_types == ["parquet", "parquet"]

    delivery = fetch(DATA / "azure/ea", spool)
    assert part_names(delivery) == ["EA_ActualCost_Small.csv", "EA_NoRows.csv"]
    assert count_lines(delivery) == [12, 1]


def test_all_samples_together_are_refused(spool: Path) -> None:
    with pytest.raises(CostFileError, match="several_months"):
        fetch(DATA, spool)
