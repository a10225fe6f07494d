"""Fixtures for tests of imports."""

import asyncio
import os
from pathlib import Path
from unittest.mock import patch

import pytest

from nimbill.foundation.settings import Settings
from nimbill.imports import job_types
from nimbill.imports.preparation import ImportRequest, PreparedImport, prepare_import
from nimbill.jobs.runner import ReportProgress
from tests.imports.in_process_importer import InProcessImporter
from tests.running_service import Service


@pytest.fixture
def importer(service: Service, tmp_path: Path) -> InProcessImporter:
    return InProcessImporter(service, service.organisation, tmp_path)


@pytest.fixture
def preparation_in_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of the service prepare imports in a thread; starting a process takes seconds."""

    async def run_in_thread(
        settings: Settings, request: ImportRequest, _report_progress: ReportProgress
    ) -> PreparedImport:
        with patch.dict(os.environ, settings.to_child_environment()):
            return await asyncio.to_thread(prepare_import, request, lambda _: None)

    monkeypatch.setattr(job_types, "run_preparation", run_in_thread)
