"""`nimbill export focus`: write the costs of a month as a FOCUS file."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.commands.run_command import run_command, service_environment
from tests.costs.generated_months import build_line
from tests.costs.stored_months import store_month
from tests.running_service import Service

ExportCommand = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def export(service: Service) -> ExportCommand:
    env = service_environment(service)
    organisation = ("--organisation", service.organisation.organisation_id)
    return lambda *arguments: run_command("export", "focus", *arguments, *organisation, env=env)


def test_the_current_lines_of_all_vendors_or_of_one_are_written(
    service: Service, export: ExportCommand, tmp_path: Path
) -> None:
    store_month(service, [build_line(), build_line()])
    store_month(service, [build_line()])  # replaces the first import
    store_month(service, [build_line(), build_line(), build_line()], vendor="azure")
    all_vendors, only_aws = tmp_path / "all.parquet", tmp_path / "aws.parquet"

    complete = export("2026-09", "--output", str(all_vendors))
    partial = export("2026-09", "--output", str(only_aws), "--vendor", "aws")

    assert (complete.returncode, complete.stdout) == (0, f"{all_vendors}: 4 lines\n"), (
        complete.stderr
    )
    assert partial.stdout == f"{only_aws}: 1 lines\n"
    providers = pq.read_table(all_vendors)["ProviderName"].to_pylist()
    assert providers == ["AWS", "Microsoft", "Microsoft", "Microsoft"]


def test_a_month_without_imports_and_an_invalid_month_are_refused(
    export: ExportCommand, tmp_path: Path
) -> None:
    for month in ("2026-09", "2026-13"):
        result = export(month, "--output", str(tmp_path / "out.parquet"))

        assert result.returncode == 2
        assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_organisation_is_refused(service: Service, tmp_path: Path) -> None:
    arguments = ("export", "focus", "2026-09", "--output", str(tmp_path / "out.parquet"))

    result = run_command(
        *arguments, "--organisation", "org_unknown", env=service_environment(service)
    )

    assert result.returncode == 2
    assert result.stderr == "nimbill: No organisation has this id.\n"


def test_an_output_file_that_cannot_be_written_is_refused(
    service: Service, export: ExportCommand, tmp_path: Path
) -> None:
    store_month(service, [build_line()])

    result = export("2026-09", "--output", str(tmp_path / "missing" / "out.parquet"))

    assert result.returncode == 2
    assert "No such file or directory" in result.stderr
