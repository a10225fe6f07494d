"""Real folders of the vendors are taken as their manifests say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nimbill.costs.ingestion.delivery import CostFileError, Delivery, Limits, deliver
from tests.costs.small_files import names, text_of

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


def take(source: Path, spool: Path, month: str | None = None) -> Delivery:
    return deliver([str(source)], spool=spool, month=month, limits=Limits(), tell=lambda _: None)


def lines(delivery: Delivery) -> list[int]:
    return [text_of(part).count(b"\n") for part in delivery.parts]


@pytest.mark.parametrize(
    "source", ["", "koku-local", "koku-local/20180801-20180901", "koku-local/20180801-20180901/{}"]
)
def test_a_bucket_of_aws_from_each_of_its_folders(spool: Path, source: str) -> None:
    delivery = take(DATA / "aws/koku/bucket" / source.format(ASSEMBLY), spool)

    assert (delivery.assembly, delivery.month) == (ASSEMBLY, "2018-08")
    assert [part.path.name for part in delivery.parts] == ["koku-local-1.csv.gz"]
    assert lines(delivery) == [13_381]


def test_of_six_files_the_manifest_names_three(spool: Path) -> None:
    """The other three are the same lines once they are final, and would double the bill."""
    delivery = take(DATA / "aws/nise", spool)

    assert names(delivery) == [f"September-2026-cur-{at}.csv.gz" for at in (1, 2, 3)]
    assert (delivery.month, lines(delivery)) == ("2026-09", [3_001, 3_001, 481])


def test_both_kinds_of_manifest_and_both_compressions(spool: Path, tmp_path: Path) -> None:
    keboola = DATA / "aws/keboola"
    for name in ("cur_1_0_cur1_manifest.json", "cur_2_0_cur2_manifest.json"):
        shutil.copy(keboola / name, tmp_path / name)
    shutil.copy(
        keboola / "cur_1_0_MockTestReport-00001.csv.zip", tmp_path / "MockTestReport-00001.csv.zip"
    )
    second = tmp_path / "data" / "BILLING_PERIOD=2024-09"
    second.mkdir(parents=True)
    shutil.copy(
        keboola / "cur_2_0_MockTestReportV2-00001.csv.gz", second / "MockTestReportV2-00001.csv.gz"
    )

    first, then = (take(tmp_path, spool, month) for month in ("2024-01", "2024-09"))

    assert first.assembly == "123e4567-e89b-12d3-a456-426614174000"
    assert text_of(first.parts[0]) == (keboola / "cur_1_0_sample_billing_data.csv").read_bytes()
    assert then.assembly == "987f6543-a21b-43c7-d654-321098765432"
    assert text_of(then.parts[0]) == (keboola / "cur_2_0_sample_billing_data_v2.csv").read_bytes()
    with pytest.raises(CostFileError, match="several_months"):
        take(tmp_path, spool)


def test_parquet_and_plain_files_are_taken_as_they_are(spool: Path) -> None:
    forms = [part.form for part in take(DATA / "aws/wa-labs", spool).parts]
    assert forms == ["parquet", "parquet"]

    delivery = take(DATA / "azure/ea", spool)
    assert names(delivery) == ["EA_ActualCost_Small.csv", "EA_NoRows.csv"]
    assert lines(delivery) == [12, 1]


def test_all_samples_at_once_are_no_delivery(spool: Path) -> None:
    with pytest.raises(CostFileError, match="several_months"):
        take(DATA, spool)
