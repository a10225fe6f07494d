"""`make clients-check`: generators read the OpenAPI document, and their code compiles and works.

Not part of `make test`, because the generators need Java, npm packages and minutes.
"""

from __future__ import annotations

import compileall
import importlib
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.contract.declared_routes import declared_app
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.running_service import PASSWORD, Service

TOOLS = Path(__file__).parents[2] / ".venv-clients"
PROGRAMS, NODE_PROGRAMS = TOOLS / "bin", TOOLS / "node_modules" / ".bin"
SECONDS_MAX = 300
TSC = ("--noEmit", "--strict", "--target", "es2022", "--module", "commonjs", "--lib", "es2022,dom")


def run(*command: str | Path, folder: Path) -> str:
    result = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("document") / "openapi.json"
    path.write_bytes(declared_app().state.build_openapi_document())
    return path


# ── openapi-python-client ────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def python_client(document: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("python")
    generate = (PROGRAMS / "openapi-python-client", "generate", "--meta", "none")
    run(*generate, "--path", document, "--output-path", "generated_client", folder=folder)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("generated_client")
    sys.path.remove(str(folder))


def load(client: ModuleType, name: str) -> Any:
    return importlib.import_module(f"{client.__name__}.{name}")


def test_every_module_of_the_python_client_can_be_imported(python_client: ModuleType) -> None:
    modules = list(pkgutil.walk_packages(python_client.__path__, f"{python_client.__name__}."))

    for module in modules:
        importlib.import_module(module.name)
    assert len(modules) > 300


def test_the_python_client_logs_in_lists_groups_and_creates_an_invoice(
    python_client: ModuleType, service: Service, tmp_path: Path
) -> None:
    month_end = MonthEnd(service, tmp_path)
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    models, organisation = load(python_client, "models"), service.organisation
    anonymous = python_client.Client(base_url="http://testserver").set_httpx_client(service.http)

    token = load(python_client, "api.tokens_and_sessions.core_access_token_issue_core_token").sync(
        client=anonymous,
        body=models.TokenForm(
            grant_type="password",
            client_id=organisation.client_id,
            client_secret=organisation.client_secret,
            username="root",
            password=PASSWORD,
        ),
    )
    service.http.headers["Authorization"] = f"Bearer {token.access_token}"
    try:
        groups = load(
            python_client, "api.billing_groups.m_core_billinggroup_list_billing_groups"
        ).sync(client=anonymous)
        created = load(
            python_client, "api.invoices.m_core_invoices_calculation_month_create_invoices"
        ).sync(
            MONTH,
            client=anonymous,
            body=models.CreateInvoicesRequest(vendor="aws", group=[group], bulk=False),
        )
    finally:
        del service.http.headers["Authorization"]

    assert [each.billinggroup_id for each in groups] == ["BG-A"]
    assert [each.invoice_no for each in created.created] == ["202609-0001"]


# ── openapi-generator ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", ["python", "typescript-axios", "go"])
def test_openapi_generator_writes_code_that_compiles(
    document: Path, tmp_path: Path, language: str
) -> None:
    if shutil.which("java") is None:
        pytest.skip("no Java on this machine")
    generate = (PROGRAMS / "openapi-generator-cli", "generate", "-i", document)

    run(*generate, "-g", language, "-o", "client", folder=tmp_path)

    client = tmp_path / "client"
    if language == "python":
        assert compileall.compile_dir(client, quiet=1)
        run(PROGRAMS / "python", "-c", "import openapi_client.api", folder=client)
    elif language == "typescript-axios":
        (tmp_path / "node_modules").symlink_to(TOOLS / "node_modules")
        run(NODE_PROGRAMS / "tsc", *TSC, "--skipLibCheck", "client/index.ts", folder=tmp_path)
    elif shutil.which("go") is not None:
        run("go", "build", "./...", folder=client)


# ── openapi-typescript and Spectral ──────────────────────────────────────────────────────────────


def test_openapi_typescript_writes_types_that_compile(document: Path, tmp_path: Path) -> None:
    run(NODE_PROGRAMS / "openapi-typescript", document, "-o", "api.d.ts", folder=tmp_path)

    run(NODE_PROGRAMS / "tsc", *TSC, "api.d.ts", folder=tmp_path)


def test_spectral_reports_no_error(document: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text('extends: ["spectral:oas"]\n')

    run(NODE_PROGRAMS / "spectral", "lint", "-r", "rules.yaml", document, folder=tmp_path)
