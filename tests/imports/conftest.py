"""Fixtures for tests of imports."""

from pathlib import Path

import pytest

from nimbill.imports import job_types, tagged_sums_jobs
from tests.imports.in_process_importer import InProcessImporter
from tests.imports.preparation_in_thread import prepare_in_thread
from tests.imports.repeating_importer import RepeatingImporter
from tests.running_service import Service


@pytest.fixture
def importer(service: Service, tmp_path: Path) -> InProcessImporter:
    return InProcessImporter(service, service.organisation, tmp_path)


@pytest.fixture
def repeating_importer(service: Service, tmp_path: Path) -> RepeatingImporter:
    """For tests in which equal files are committed in different ways."""
    return RepeatingImporter(service, service.organisation, tmp_path)


@pytest.fixture
def preparation_in_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of the service prepare imports in a thread."""
    for module in (job_types, tagged_sums_jobs):
        monkeypatch.setattr(module, "run_preparation", prepare_in_thread)
