"""Version 3 can be retired by deleting files and marked lines; the rest then starts and works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import nimbill
from nimbill.database.embedded_postgres import Address

PACKAGE = Path(nimbill.__file__).parent

# What to delete, as application/legacy_wiring.py says.
RETIRED = (
    "legacy",
    "application/legacy_agent_role.py",
    "application/legacy_wiring.py",
    "commands/agent.py",
    "customers/organisation_settings/agent_role_rules.py",
    "demo/stack_steps.py",
)
MARK = re.compile(r"# version 3$")

# "legacy" is also AWS's own name for its older cost report.
OTHER_LEGACY = ("costs/formats/", "costs/ingestion/", "demo/vendor_files/")

# Runs in a process of its own, which imports the copy instead of this project.
USE_THE_REST = """
import asyncio, importlib, json, pkgutil, sys
from pathlib import Path

import sqlalchemy as sa
from litestar.testing import TestClient

import nimbill

folder, database_url = sys.argv[1:]
assert Path(nimbill.__file__).is_relative_to(folder), nimbill.__file__
for module in pkgutil.walk_packages(nimbill.__path__, "nimbill."):
    if not module.name.endswith((".__main__", ".env")):
        importlib.import_module(module.name)

from nimbill.application.app import create_litestar_app, add_middleware
from nimbill.application.installed import load_settings
from nimbill.application.open_database import prepare_database
from nimbill.foundation.encryption import load_or_create_key
from nimbill.identity.organisations.operations import create_organisation

settings = load_settings({"NIMBILL_DATA": folder, "NIMBILL_DATABASE_URL": database_url})
encryptor = load_or_create_key(settings.key_file)
asyncio.run(prepare_database(database_url, encryptor))
app = create_litestar_app(settings)
TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"


async def create():
    return await create_organisation(
        app.state.resources.engine,
        encryptor,
        name="Test",
        username="root",
        password="correct horse 7",
    )


async def list_tables():
    async with app.state.resources.engine.connect() as db:
        return list((await db.execute(sa.text(TABLES))).scalars())


with TestClient(add_middleware(app, settings)) as http:
    ready = http.get("/readyz")
    organisation = http.blocking_portal.call(create)
    form = {
        "grant_type": "client_credentials",
        "client_id": organisation.client_id,
        "client_secret": organisation.client_secret,
    }
    token = http.post("/core/access_token", data=form)
    headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
    groups = http.get("/m/core/billinggroup", headers=headers)
    legacy = http.get("/v3/alm/stack", headers=headers)
    tables = http.blocking_portal.call(list_tables)

print("RESULT", json.dumps({
    "ready": ready.status_code,
    "token": token.status_code,
    "groups": [groups.status_code, groups.json()],
    "legacy": [legacy.status_code, "sunset" in legacy.headers],
    "tables": tables,
}))
"""


@pytest.fixture(scope="module")
def retired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package without version 3."""
    package = tmp_path_factory.mktemp("retired") / "nimbill"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "static"))
    static = "application/static"
    (package / static).symlink_to(PACKAGE / static)
    for name in RETIRED:
        path = package / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for file in package.rglob("*.py"):
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(line for line in lines if not MARK.search(line.rstrip("\n"))))
    return package


def test_nothing_that_is_left_mentions_version_3(retired: Path) -> None:
    words = re.compile(r"legacy|version 3|/v3\b|(?<!-)\b(?:stack|agent)s?\b", re.IGNORECASE)

    mentions = [
        f"{file.relative_to(retired)}:{number}: {line}"
        for file in sorted([*retired.rglob("*.py"), *retired.rglob("*.sql")])
        if not str(file.relative_to(retired)).startswith(OTHER_LEGACY)
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if words.search(line)
    ]

    assert not mentions, "\n".join(mentions)


def test_what_is_left_has_no_unused_and_no_undefined_names(retired: Path) -> None:
    ruff = Path(sys.executable).with_name("ruff")

    checked = subprocess.run(
        [ruff, "check", "--isolated", "--select", "F", retired],
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stdout


def test_what_is_left_starts_on_an_empty_database_and_works(
    retired: Path, empty_database: Address
) -> None:
    result = use_the_rest(retired, empty_database)

    assert result["ready"] == 200
    assert result["token"] == 200
    assert result["groups"] == [200, []]
    assert result["legacy"] == [404, False]
    assert "billing_groups" in result["tables"]
    assert not [name for name in result["tables"] if "legacy" in name]


def use_the_rest(retired: Path, database: Address) -> dict[str, Any]:
    folder = retired.parent
    done = subprocess.run(
        [sys.executable, "-c", USE_THE_REST, str(folder), database.url],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (line,) = re.findall(r"^RESULT (.*)$", done.stdout, re.MULTILINE)
    result: dict[str, Any] = json.loads(line)
    return result
