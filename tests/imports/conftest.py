"""What tests of imports may ask for."""

from pathlib import Path

import pytest

from tests.imports.in_process_importer import InProcessImporter
from tests.running_service import Service


@pytest.fixture
def importer(service: Service, tmp_path: Path) -> InProcessImporter:
    return InProcessImporter(service, service.organisation, tmp_path)
