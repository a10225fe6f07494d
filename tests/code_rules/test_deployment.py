"""The container files and the systemd unit agree with the program and with each other."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from nimbill.application.installed import list_unknown_settings, load_settings
from nimbill.commands.command_line import build_app

ROOT = Path(__file__).parents[2]
FILES = (
    "Containerfile",
    "compose.yaml",
    "deploy/create-database.sh",
    "deploy/nimbill.service",
)
PASSWORDS = {
    "DATABASE_PASSWORD": "first",
    "DATABASE_ADMIN_PASSWORD": "second",
    "OBJECT_STORE_PASSWORD": "third",
}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services of compose.yaml, with these passwords and the defaults of other variables."""
    text = re.sub(
        r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}",
        lambda found: PASSWORDS.get(found[1], found[2] or ""),
        (ROOT / "compose.yaml").read_text(),
    )
    services: dict[str, Any] = yaml.safe_load(text)["services"]
    return services


def test_compose_passes_valid_settings_that_the_program_knows(services: dict[str, Any]) -> None:
    environment = services["nimbill"]["environment"]

    settings = load_settings(environment)

    assert list_unknown_settings(environment) == []
    assert settings.database_url == "postgresql://nimbill:first@database:5432/nimbill"
    assert settings.lake_url.startswith("s3://billing-lake/")


def test_compose_connects_the_service_with_its_database_and_object_store(
    services: dict[str, Any],
) -> None:
    environment = services["nimbill"]["environment"]
    database = urlsplit(environment["NIMBILL_DATABASE_URL"])
    lake = parse_qs(urlsplit(environment["NIMBILL_LAKE_URL"]).query)

    assert database.hostname == "database"
    assert database.password == services["database"]["environment"]["OWNER_PASSWORD"]
    assert lake["endpoint_override"] == ["object-store:9000"]
    assert (
        environment["AWS_SECRET_ACCESS_KEY"]
        == (services["object-store"]["environment"]["MINIO_ROOT_PASSWORD"])
    )
    assert services["nimbill"]["depends_on"].keys() == services.keys() - {"nimbill"}
    assert all("healthcheck" in services[name] for name in services["nimbill"]["depends_on"])


def test_compose_contains_no_password_and_opens_one_local_port(services: dict[str, Any]) -> None:
    text = (ROOT / "compose.yaml").read_text()

    for name in PASSWORDS:
        assert re.findall(rf"\$\{{{name}(.)", text) == [":"] * text.count(f"${{{name}"), name
    assert re.findall(r"PASSWORD: (?!\$\{)", text) == []
    assert [port for service in services.values() for port in service.get("ports", [])] == [
        "127.0.0.1:8080:8080"
    ]


def test_the_owner_of_the_database_is_no_superuser(services: dict[str, Any]) -> None:
    script = (ROOT / "deploy" / "create-database.sh").read_text()
    mounts = [volume.split(":") for volume in services["database"]["volumes"]]

    assert [
        "./deploy/create-database.sh",
        "/docker-entrypoint-initdb.d/create-database.sh",
        "ro",
    ] in (mounts)
    assert "CREATE ROLE nimbill LOGIN PASSWORD :'password' CREATEROLE;" in script
    assert "SUPERUSER" not in script
    assert services["database"]["environment"]["POSTGRES_PASSWORD"] == "second"


def test_the_container_runs_the_service_as_an_ordinary_user() -> None:
    text = (ROOT / "Containerfile").read_text()
    final_stage = text.rpartition("\nFROM ")[2]
    settings = set(re.findall(r"NIMBILL_\w+", text))

    assert settings == {"NIMBILL_DATA"}
    assert "\nUSER nimbill\n" in final_stage
    assert 'ENTRYPOINT ["nimbill"]' in final_stage
    assert "--require-hashes --requirement requirements/run.txt" in text
    assert "VOLUME /var/lib/nimbill" in final_stage


def test_image_and_compose_file_have_the_same_health_check(services: dict[str, Any]) -> None:
    text = (ROOT / "Containerfile").read_text()
    (arguments,) = re.findall(r"^HEALTHCHECK .*\n +CMD (\[.*\])$", text, re.MULTILINE)
    check = services["nimbill"]["healthcheck"]

    assert check["test"] == ["CMD", *json.loads(arguments)]
    options = "--interval={interval} --timeout={timeout} --start-period={start_period}"
    assert f"HEALTHCHECK {options.format(**check)} " in text


def test_every_copied_file_exists_and_is_not_ignored() -> None:
    copied = re.findall(
        r"^COPY (?!--from)(.*) \S+$", (ROOT / "Containerfile").read_text(), re.MULTILINE
    )
    kept = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    names = {name for line in copied for name in line.split()}

    assert names == kept
    assert all((ROOT / name).exists() for name in names)


@pytest.fixture(scope="module")
def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(ROOT / "deploy" / "nimbill.service")
    return parser


def test_the_unit_stops_the_service_as_documented_and_protects_the_system(
    unit: configparser.ConfigParser,
) -> None:
    service = unit["Service"]

    assert service["ExecStart"].startswith("/opt/nimbill/bin/nimbill serve")
    assert (service["KillMode"], service["TimeoutStopSec"]) == ("mixed", "30")
    assert service["Environment"] == f"NIMBILL_DATA=/var/lib/{service['StateDirectory']}"
    assert (service["ProtectSystem"], service["NoNewPrivileges"]) == ("strict", "yes")
    assert service["CapabilityBoundingSet"] == ""
    assert service["User"] != "root"


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """The program of the unit is not installed here, so that another one is named."""
    systemd_analyze = shutil.which("systemd-analyze")
    if systemd_analyze is None:
        pytest.skip("no systemd on this machine")
    text = (ROOT / "deploy" / "nimbill.service").read_text()
    file = tmp_path / "nimbill.service"
    file.write_text(text.replace("/opt/nimbill/bin/nimbill", shutil.which("true") or "/bin/true"))

    result = subprocess.run(
        [systemd_analyze, "verify", "--man=no", str(file)], capture_output=True, text=True
    )

    complaints = [line for line in result.stderr.splitlines() if "nimbill" in line]
    assert (result.returncode, complaints) == (0, [])


def test_the_operating_guide_describes_every_file() -> None:
    page = (ROOT / "docs" / "operating.md").read_text()

    for name in FILES:
        assert f"`{name}`" in page, name


@pytest.mark.parametrize("file", [*FILES, "docs/operating.md"])
def test_every_setting_is_one_that_the_program_reads(file: str) -> None:
    names = re.findall(r"\bNIMBILL_[A-Z_]*[A-Z]\b", (ROOT / file).read_text())

    assert list_unknown_settings(dict.fromkeys(names, "")) == []


def list_command_lines() -> list[str]:
    """The command lines of the files and of the section about installing."""
    page = (ROOT / "docs" / "operating.md").read_text()
    installing = page.partition("\n## Installing\n")[2].partition("\n## ")[0]
    unit = (ROOT / "deploy" / "nimbill.service").read_text()
    container = (ROOT / "Containerfile").read_text()
    (command,) = re.findall(r"^CMD (\[.*\])$", container, re.MULTILINE)
    return [
        shlex.join(json.loads(command)),
        *re.findall(r"^ExecStart=/opt/nimbill/bin/nimbill (.*)$", unit, re.MULTILINE),
        *re.findall(r"bin/nimbill ([a-z].*)$", installing, re.MULTILINE),
        *re.findall(r"exec nimbill nimbill (.*)$", installing, re.MULTILINE),
        *re.findall(
            r"exec nimbill nimbill (.*)$", (ROOT / "compose.yaml").read_text(), re.MULTILINE
        ),
    ]


def test_the_program_accepts_every_command_line() -> None:
    lines = list_command_lines()

    assert {line.split()[0] for line in lines} == {"init", "serve"}
    assert len(lines) == 5
    for line in lines:
        arguments = shlex.split(line)
        command, bound, _ignored = build_app(arguments).parse_args(
            arguments, exit_on_error=False, print_error=False
        )
        assert command.__name__ == arguments[0]
        assert bound.kwargs, line


def test_the_script_that_creates_the_database_is_valid_shell() -> None:
    script = ROOT / "deploy" / "create-database.sh"

    assert os.access(script, os.X_OK)
    subprocess.run(["sh", "-n", script], check=True)


def test_the_script_runs_the_statements_of_the_operating_guide() -> None:
    page = (ROOT / "docs" / "operating.md").read_text()
    script = (ROOT / "deploy" / "create-database.sh").read_text()
    (statements,) = re.findall(r"<<'SQL'\n(.*?)\nSQL\n", script, re.DOTALL)

    assert statements.replace(":'password'", "'…'") in page
