"""The wheel in an environment that contains only the locked packages of serving."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import cast

import httpx
import pytest
from packaging.requirements import Requirement

from tests.command_line import PASSWORD, init_arguments, wait_until
from tests.costs.object_store_server import CREDENTIALS, ObjectStore, object_store
from tests.imports.aws_reports import write_report
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.proof.real_server import free_port, stop
from tests.running_service import Service

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
def store() -> Iterator[ObjectStore]:
    with object_store() as running:
        yield running


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory, store: ObjectStore, python: Path
) -> dict[str, str]:
    """The lake is in an object store, which needs no extra.

    All processes share compiled modules, which are not written into the linked packages.
    """
    home = tmp_path_factory.mktemp("home")
    link_compiled_packages(python, home / "bytecode")
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "NIMBILL_DATA": str(home / "data"),
        "NIMBILL_LAKE_URL": store.address(store.bucket("lake")),
        "PYTHONPYCACHEPREFIX": str(home / "bytecode"),
        **CREDENTIALS,
    }


def link_compiled_packages(python: Path, bytecode: Path) -> None:
    """The linked packages need not be compiled again; the interpreter checks their age."""
    (site_packages,) = python.parents[1].glob("lib/python*/site-packages")
    for package in site_packages.iterdir():
        if package.is_symlink() and package.is_dir():
            link = bytecode / package.relative_to("/")
            compiled = Path(str(sys.pycache_prefix)) / package.resolve().relative_to("/")
            for folder in (link.parent, compiled):
                folder.mkdir(parents=True, exist_ok=True)
            link.symlink_to(compiled)


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
        with httpx.Client(base_url=address, timeout=5) as http:
            wait_until(lambda: is_ready(http), "the service did not start")
        yield address
    finally:
        stop(process)


@pytest.fixture(scope="module")
def organisation(python: Path, environment: dict[str, str], url: str) -> dict[str, str]:
    created: dict[str, str] = json.loads(run(python, environment, *init_arguments(), "--json"))
    return created


def is_ready(http: httpx.Client) -> bool:
    try:
        return http.get("/readyz").status_code == 200
    except httpx.HTTPError:
        return False


@dataclass
class InstalledService:
    """The part of a test service that `MonthEnd` uses."""

    http: httpx.Client
    headers: dict[str, str]

    def root(self) -> dict[str, str]:
        return self.headers


@pytest.fixture(scope="module")
def service(url: str, organisation: dict[str, str]) -> Iterator[InstalledService]:
    form = {
        "grant_type": "client_credentials",
        "client_id": organisation["client_id"],
        "client_secret": organisation["client_secret"],
    }
    with httpx.Client(base_url=url, timeout=30) as http:
        token = http.post("/core/access_token", data=form).json()["access_token"]
        yield InstalledService(http, {"Authorization": f"Bearer {token}"})


# Takes several seconds: it starts a server of its own.
def test_an_organisation_is_created_and_served(service: InstalledService) -> None:
    http = service.http

    assert http.get("/m/core/billinggroup", headers=service.root()).status_code == 200
    assert "swagger-ui" in http.get("/docs").text
    assert "/web/assets/console" in http.get("/console").text
    assert "nimbill_database_up 1.0" in http.get("/metrics").text


IMPORT_EVERY_MODULE = """
import importlib, pkgutil, nimbill
optional = set()
optional |= {  # version 3
    f"nimbill.legacy.provisioning.{name}"
    for name in ("aws_errors", "aws_provisioner", "aws_sessions")
}
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


@pytest.mark.parametrize(
    ("settings", "extra"),
    [
        ({"NIMBILL_PROVISIONER": "aws"}, "nimbill[aws]"),  # version 3
        (
            {"NIMBILL_ENGINE": "spark", "NIMBILL_SPARK_MASTER": "spark://127.0.0.1:7077"},
            "nimbill[spark]",
        ),
    ],
)
def test_a_missing_extra_is_named_with_the_setting_that_needs_it(
    python: Path, environment: dict[str, str], settings: dict[str, str], extra: str
) -> None:
    result = subprocess.run(
        [python, "-m", "nimbill", "serve", "--port", str(free_port())],
        env=environment | settings,
        capture_output=True,
        text=True,
    )

    assert result.returncode == 2
    assert f"{next(iter(settings))}=" in result.stderr
    assert f"pip install '{extra}'" in result.stderr


def test_a_month_is_imported_from_an_object_store_and_invoiced_without_extras(
    python: Path,
    environment: dict[str, str],
    organisation: dict[str, str],
    service: InstalledService,
    store: ObjectStore,
    tmp_path: Path,
) -> None:
    month_end = MonthEnd(cast("Service", service), tmp_path)
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    store.put(
        store.bucket("bills"), "bill.csv", write_report(tmp_path / "b", EXAMPLE_A).read_bytes()
    )
    scope = ("--organisation", organisation["organisation_id"])

    source = store.address("bills/bill.csv")
    record = json.loads(
        run(python, environment, "import", "--vendor", "aws", *scope, "--json", source)
    )
    month_end.prepare_groups(group)
    run(python, environment, "invoice", "create", MONTH, "--vendor", "aws", *scope)
    run(python, environment, "invoice", "print", MONTH, "--into", str(tmp_path / "pdf"), *scope)

    assert record["state"] == "done"
    assert json.loads(run(python, environment, "lake", "verify", *scope, "--json"))["intact"]
    assert month_end.get_invoice(group)["sheet"]["total"] == 190472
    (file,) = (tmp_path / "pdf").iterdir()
    assert file.read_bytes().startswith(b"%PDF")


def test_the_installed_packages_are_not_larger_than_needed() -> None:
    packages = list_locked_packages()
    sizes = {package.name: sum(map(size_of, package.files or [])) for package in packages}

    assert sum(sizes.values()) < SIZE_MAX, sorted(sizes.items(), key=lambda item: -item[1])[:10]


def size_of(file: object) -> int:
    """The size in the package's record; compiled Python has none."""
    return int(getattr(file, "size", None) or 0)


def test_the_wheel_contains_the_font_the_api_page_and_the_client(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())

    assert "nimbill/application/static/api/index.html" in names
    assert "nimbill/invoicing/pdf/fonts/BIZUDPGothic-Regular.ttf" in names
    assert {"nimbill_client/client.py", "nimbill_client/py.typed"} <= names
    assert not any(name.startswith(("tests/", "bench/")) for name in names)
