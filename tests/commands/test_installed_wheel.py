"""The wheel in an environment that contains only the locked packages of serving."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import httpx
import pytest
from packaging.requirements import Requirement

from tests.command_line import PASSWORD, init_arguments, wait_until
from tests.imports.aws_reports import report_line, write_report
from tests.proof.real_server import free_port, stop

ROOT = Path(__file__).parents[2]
MEGABYTE = 1_000_000
# What serving needs, without compiled Python; it was 834 MB with everything that was installed.
SIZE_MAX = 600 * MEGABYTE


def list_locked_packages() -> list[Distribution]:
    """The packages of requirements/run.txt, as they are installed for development."""
    lines = (ROOT / "requirements" / "run.txt").read_text().splitlines()
    pinned = [Requirement(line.rstrip(" \\")) for line in lines if line[:1].isalnum()]
    return [
        distribution(requirement.name)
        for requirement in pinned
        if requirement.marker is None or requirement.marker.evaluate()
    ]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Takes some seconds: it builds the wheel from a copy of the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and links to the locked packages."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    for package in list_locked_packages():
        for name in {file.parts[0] for file in package.files or [] if file.parts[0] != ".."}:
            target = site_packages / name
            if not target.exists():
                target.symlink_to(Path(str(package.locate_file(name))))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site_packages)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All processes share compiled modules, which are not written into the linked packages."""
    home = tmp_path_factory.mktemp("home")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "NIMBILL_DATA": str(home / "data"),
        "PYTHONPYCACHEPREFIX": str(home / "bytecode"),
    }


def run(python: Path, environment: dict[str, str], *arguments: str) -> str:
    result = subprocess.run(
        [python, "-m", "nimbill", *arguments],
        env=environment,
        cwd=environment["HOME"],
        input=f"{PASSWORD}\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def url(python: Path, environment: dict[str, str]) -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(
        [python, "-m", "nimbill", "serve", "--port", str(port), "--workers", "1"],
        env=environment,
        cwd=environment["HOME"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: is_ready(address), "the service did not start")
        yield address
    finally:
        stop(process)


@pytest.fixture(scope="module")
def organisation(python: Path, environment: dict[str, str], url: str) -> dict[str, str]:
    created: dict[str, str] = json.loads(run(python, environment, *init_arguments(), "--json"))
    return created


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


# Takes several seconds: it starts a server of its own.
def test_an_organisation_is_created_and_served(url: str, organisation: dict[str, str]) -> None:
    form = {
        "grant_type": "client_credentials",
        "client_id": organisation["client_id"],
        "client_secret": organisation["client_secret"],
    }
    token = httpx.post(f"{url}/core/access_token", data=form, timeout=30).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    groups = httpx.get(f"{url}/m/core/billinggroup", headers=headers, timeout=30)
    assert groups.status_code == 200
    assert "swagger-ui" in httpx.get(f"{url}/docs", timeout=30).text
    assert "nimbill_database_up 1.0" in httpx.get(f"{url}/metrics", timeout=30).text


IMPORT_EVERY_MODULE = """
import importlib, pkgutil, nimbill
optional = {"nimbill.legacy.provisioning.aws_errors", "nimbill.legacy.provisioning.aws_provisioner",
    "nimbill.costs.lake.engines.spark"}
for module in pkgutil.walk_packages(nimbill.__path__, "nimbill."):
    if ".migrations." not in module.name and not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert module.name in optional, (module.name, error)
            optional.remove(module.name)
assert not optional, optional
"""


def test_every_module_but_those_of_extras_can_be_imported(
    python: Path, environment: dict[str, str]
) -> None:
    subprocess.run([python, "-c", IMPORT_EVERY_MODULE], env=environment, check=True)


def test_the_extra_for_instances_is_named_where_it_is_missing(
    python: Path, environment: dict[str, str]
) -> None:
    result = subprocess.run(
        [python, "-m", "nimbill", "serve"],
        env=environment | {"NIMBILL_PROVISIONER": "aws"},
        capture_output=True,
        text=True,
    )

    assert result.returncode == 2
    assert "nimbill[aws]" in result.stderr


def test_a_month_can_be_imported_without_extras(
    python: Path, environment: dict[str, str], organisation: dict[str, str], tmp_path: Path
) -> None:
    report = write_report(tmp_path / "report.csv", [report_line("1.50"), report_line("2.25")])
    scope = ("--organisation", organisation["organisation_id"])

    record = json.loads(
        run(python, environment, "import", "--vendor", "aws", *scope, "--json", str(report))
    )

    assert record["state"] == "done"
    assert json.loads(run(python, environment, "lake", "verify", *scope, "--json"))["intact"]


def test_the_installed_packages_are_not_larger_than_needed() -> None:
    packages = list_locked_packages()
    sizes = {package.name: sum(map(size_of, package.files or [])) for package in packages}

    assert sum(sizes.values()) < SIZE_MAX, sorted(sizes.items(), key=lambda item: -item[1])[:10]


def size_of(file: object) -> int:
    """The size in the package's record; compiled Python has none."""
    return int(getattr(file, "size", None) or 0)


def test_the_wheel_contains_the_font_and_the_api_page(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    assert "nimbill/application/static/api/index.html" in names
    assert "nimbill/invoicing/pdf/fonts/BIZUDPGothic-Regular.ttf" in names
    assert not any(name.startswith(("tests/", "bench/")) for name in names)
