"""The wheel of the client is complete and works without the service."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from nimbill_client import VERSION

ROOT = Path(__file__).parents[2]

# The folder of the installed packages also leads to the service; it must not be needed.
USE_THE_WHEEL = """
import sys
sys.modules["nimbill"] = None
sys.path.insert(0, sys.argv[1])
import nimbill_client
assert nimbill_client.__file__.startswith(sys.argv[1]), nimbill_client.__file__
print(nimbill_client.Client("https://example.com", client_id="id", client_secret="secret"))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT / "client",
        check=True,
        capture_output=True,
    )
    (file,) = folder.glob("*.whl")
    return file


def test_the_wheel_contains_the_types_and_names_its_requirements(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        folder = f"nimbill_client-{VERSION}.dist-info"
        assert archive.read(f"{folder}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
        metadata = archive.read(f"{folder}/METADATA").decode()

    sources = (ROOT / "client" / "src" / "nimbill_client").glob("*.*")
    assert {f"nimbill_client/{path.name}" for path in sources} <= names
    assert {name.partition("/")[0] for name in names} == {"nimbill_client", folder}
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert required == ["Requires-Dist: httpx>=0.28.1", "Requires-Dist: msgspec>=0.22.0"]


def test_the_wheel_works_without_the_service(wheel: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", USE_THE_WHEEL, str(wheel)], capture_output=True, text=True
    )

    assert (result.returncode, result.stdout) == (0, "Client('https://example.com')\n")
