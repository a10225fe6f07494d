"""What tests of imports may ask for."""

from pathlib import Path

import pytest

from tests.imports.taking import Taking
from tests.running_service import Service


@pytest.fixture
def taking(service: Service, tmp_path: Path) -> Taking:
    return Taking(service, service.organisation, tmp_path)
