"""Version 3 can be removed by deleting files and marked lines; the rest then starts and works."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from nimbill.application import legacy_wiring
from nimbill.database.embedded_postgres import Address

ROOT = Path(__file__).parents[2]
COPIED = ("src", "client", "tests", "bench", "docs", "Makefile", "environment.mk", "pyproject.toml")
NOT_COPIED = ("__pycache__", "static", "images")
STATIC = "src/nimbill/application/static"
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
    """A copy of the project without version 3."""
    copy = tmp_path_factory.mktemp("retired")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns(*NOT_COPIED))
        else:
            shutil.copy(ROOT / name, copy)
    (copy / STATIC).symlink_to(ROOT / STATIC)
    for name in re.findall(r"^ {7}(\S+)$", legacy_wiring.__doc__ or "", re.MULTILINE):
        path = copy / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for file in [*copy.rglob("*.py"), copy / "Makefile", copy / "pyproject.toml"]:
        file.write_text("".join(lines_without_marked_blocks(file.read_text())))
    return copy


def lines_without_marked_blocks(text: str) -> Iterator[str]:
    """Without each marked line, what is indented below it, and the bracket that closes it."""
    removed_indent = None  # of the marked line above
    for line in text.splitlines(keepends=True):
        content = line.strip()
        indent = len(line) - len(line.lstrip())
        if MARK.search(content):
            removed_indent = indent
        elif removed_indent is None or not content:
            yield line
        elif indent < removed_indent or (indent == removed_indent and content[0] not in ")]}"):
            removed_indent = None
            yield line


def test_no_source_file_that_is_left_mentions_version_3(retired: Path) -> None:
    words = re.compile(r"legacy|version 3|/v3\b|(?<!-)\b(?:stack|agent)s?\b", re.IGNORECASE)
    package = retired / "src/nimbill"

    files = [
        file
        for file in [*package.rglob("*.py"), *package.rglob("*.sql")]
        if not str(file.relative_to(package)).startswith(OTHER_LEGACY)
    ]

    assert not list(find_lines(files, words))


def test_no_other_file_that_is_left_refers_to_what_was_removed(retired: Path) -> None:
    words = re.compile(r"(nimbill|tests)[./]legacy|[\"' ]legacy/|# version 3\b")

    files = [
        file
        for file in retired.rglob("*")
        if file.is_file() and file.suffix != ".md" and STATIC not in str(file)
    ]

    assert len(files) > 1_500
    assert not list(find_lines(files, words))


def find_lines(files: list[Path], words: re.Pattern[str]) -> Iterator[str]:
    for file in sorted(files):
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            if words.search(line):
                yield f"{file}:{number}: {line}"


def test_what_is_left_has_no_unused_and_no_undefined_names(retired: Path) -> None:
    run_in(retired, "ruff", "check", "--isolated", "--select", "F", ".")


def test_import_contracts_hold_for_what_is_left(retired: Path) -> None:
    output = run_in(retired, "lint-imports", "--no-cache", "--no-logo")

    assert " 0 broken" in output


def test_tests_that_are_left_import_only_what_is_left(retired: Path) -> None:
    """Collecting them would show the same, but takes half a minute."""
    missing = [
        f"{file.relative_to(retired)}: {module}.{name}"
        for file in sorted(retired.glob("tests/**/*.py"))
        for module, name in list_own_imports(file)
        if name not in list_names(retired, module)
    ]

    assert not missing, "\n".join(missing)


def list_own_imports(file: Path) -> Iterator[tuple[str, str]]:
    """Module and name of each `from … import` of this project."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and re.match(r"(nimbill|tests)\b", node.module or ""):
            yield from ((str(node.module), alias.name) for alias in node.names)


@cache
def list_names(copy: Path, module: str) -> set[str]:
    """What a module defines and imports, and the modules of a package."""
    path = module.replace(".", "/")
    names: set[str] = set()
    for root in ("src", "client/src", "."):
        names |= {each.stem for each in (copy / root / path).glob("*")}
        for file in (copy / root / f"{path}.py", copy / root / path / "__init__.py"):
            for node in ast.walk(ast.parse(file.read_text())) if file.exists() else ():
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    names.add(node.name)
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    names.add(node.id)
                elif isinstance(node, ast.alias):
                    names.add(node.asname or node.name)
    return names


def run_in(copy: Path, program: str, *arguments: str) -> str:
    """Run a program of the environment, to which this copy is the project; return its output."""
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": f"{copy}/src{os.pathsep}{copy}/client/src"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


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
    folder = retired / "src"
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
