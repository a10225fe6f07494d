"""The lock files contain what `make lock` would write for the requirements of the project."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# The arguments with which `make lock` writes each file.
ARGUMENTS: dict[str, str] = {
    file: arguments
    for arguments, file in re.findall(
        r"^\t\$\(COMPILE\) (.*)--output-file (\S+)$",
        (ROOT / "Makefile").read_text(),
        re.MULTILINE,
    )
}
PACKAGE = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^ ;]+)")


def list_requirements(arguments: str) -> Iterator[Requirement]:
    """The direct requirements of the project, of its extras and of its dependency groups."""
    project = PYPROJECT["project"]
    lines = list(project["dependencies"]) if "pyproject.toml" in arguments else []
    for extra in re.findall(r"--extra (\S+)", arguments):
        lines += project["optional-dependencies"][extra]
    for group in re.findall(r"--group (\S+)", arguments):
        lines += PYPROJECT["dependency-groups"][group]
    for requirement in map(Requirement, lines):
        if requirement.name == project["name"]:  # an extra that includes others
            for extra in requirement.extras:
                yield from map(Requirement, project["optional-dependencies"][extra])
        else:
            yield requirement


def read_locked(file: str) -> tuple[dict[str, set[str]], set[str]]:
    """The locked versions by name, and the names that the project itself requires."""
    versions: dict[str, set[str]] = {}
    direct: set[str] = set()
    name = ""
    for line in (ROOT / file).read_text().splitlines():
        if found := PACKAGE.match(line):
            name = found["name"]
            versions.setdefault(name, set()).add(found["version"])
        elif line.startswith("    #") and "nimbill (pyproject.toml" in line:
            direct.add(name)
    return versions, direct


def test_make_lock_writes_every_lock_file() -> None:
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("requirements/*.txt")}

    assert files == set(ARGUMENTS)


@pytest.mark.parametrize("file", ARGUMENTS)
def test_a_lock_file_has_a_suitable_version_of_every_requirement(file: str) -> None:
    required = list(list_requirements(ARGUMENTS[file]))
    versions, direct = read_locked(file)

    assert direct == {canonicalize_name(requirement.name) for requirement in required}
    for requirement in required:
        for version in versions[canonicalize_name(requirement.name)]:
            assert requirement.specifier.contains(version), f"{file}: {requirement}, {version}"


@pytest.mark.parametrize("file", ARGUMENTS)
def test_lock_files_agree_about_versions(file: str) -> None:
    """Each is compiled with the versions of the one before."""
    versions, _ = read_locked(file)
    others = {
        name: read_locked(name)[0] for name in re.findall(r"--constraint (\S+)", ARGUMENTS[file])
    }

    for other in others.values():
        for name in versions.keys() & other.keys():
            assert versions[name] == other[name], name
