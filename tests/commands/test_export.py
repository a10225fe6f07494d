"""nimbill export focus MONTH, as a command."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nimbill.database.embedded_postgres import Address
from tests.costs.generated_months import line
from tests.costs.kept_sums import keep_month
from tests.proof.real_server import environment_for, nimbill
from tests.running_service import Service

Export = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def export(service: Service, postgres: Address) -> Export:
    settings = {
        "NIMBILL_DATABASE_URL": postgres.url,
        "NIMBILL_KEY_FILE": str(service.settings.key_file),
    }
    environment = environment_for(service.settings.data, settings)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        whose = ("--organisation", service.organisation.organisation_id)
        return nimbill("export", "focus", *words, *whose, env=environment)

    return run


def test_what_counts_is_written_and_told(service: Service, export: Export, tmp_path: Path) -> None:
    keep_month(service, [line(), line()])
    keep_month(service, [line()])  # replaces it
    keep_month(service, [line(), line(), line()], vendor="azure")
    everything, of_aws = tmp_path / "all.parquet", tmp_path / "aws.parquet"

    done = export("2026-09", "--output", str(everything))
    alone = export("2026-09", "--output", str(of_aws), "--vendor", "aws")

    assert (done.returncode, done.stdout) == (0, f"{everything}: 4 lines\n"), done.stderr
    assert alone.stdout == f"{of_aws}: 1 lines\n"
    providers = pq.read_table(everything)["ProviderName"].to_pylist()
    assert providers == ["AWS", "Microsoft", "Microsoft", "Microsoft"]


def test_a_month_that_nobody_imported_is_refused(export: Export, tmp_path: Path) -> None:
    for month in ("2026-09", "2026-13"):
        done = export(month, "--output", str(tmp_path / "out.parquet"))

        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused(
    service: Service, export: Export, tmp_path: Path
) -> None:
    keep_month(service, [line()])

    done = export("2026-09", "--output", str(tmp_path / "not there" / "out.parquet"))

    assert done.returncode == 2
    assert "No such file or directory" in done.stderr
