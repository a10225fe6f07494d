"""A missing optional dependency is named together with the command that installs it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from nimbill.application.installed import load_settings
from nimbill.foundation import extras
from nimbill.foundation.extras import MODULES, describe_missing_extra
from nimbill.foundation.settings import SettingsError

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
SPARK = {"NIMBILL_ENGINE": "spark", "NIMBILL_SPARK_MASTER": "spark://127.0.0.1:7077"}
AWS = {"NIMBILL_PROVISIONER": "aws"}  # version 3


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Modules that are not installed."""
    names: set[str] = set()
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in names else object())
    return names


def test_nothing_is_said_about_an_extra_that_is_installed(missing: set[str]) -> None:
    assert not missing
    assert [describe_missing_extra(extra, "This") for extra in MODULES] == [None] * len(MODULES)


@pytest.mark.parametrize(
    ("extra", "module"), [(extra, module) for extra in MODULES for module in MODULES[extra]]
)
def test_each_missing_module_names_its_extra(missing: set[str], extra: str, module: str) -> None:
    missing.add(module)

    sentence = describe_missing_extra(extra, "The setting")

    assert sentence is not None
    assert sentence.startswith(f"The setting needs the extra nimbill[{extra}].")
    assert sentence.endswith(f"pip install 'nimbill[{extra}]'")


@pytest.mark.parametrize(
    ("environment", "module", "setting"),
    [
        (SPARK, "pyspark", "NIMBILL_ENGINE=spark"),
        (SPARK, "ibis", "NIMBILL_ENGINE=spark"),
        (AWS, "boto3", "NIMBILL_PROVISIONER=aws"),  # version 3
    ],
)
def test_a_setting_that_needs_a_missing_extra_is_refused_at_the_start(
    missing: set[str], environment: dict[str, str], module: str, setting: str
) -> None:
    missing.add(module)

    with pytest.raises(SettingsError, match=rf"^{setting} needs the extra nimbill\["):
        load_settings(environment)


def test_settings_that_need_no_extra_are_accepted_without_any(missing: set[str]) -> None:
    missing.update(module for modules in MODULES.values() for module in modules)

    assert load_settings({"NIMBILL_LAKE_URL": "s3://bucket/lake"}).engine == "duckdb"


def test_every_module_comes_with_its_extra() -> None:
    optional = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    distributions = {"ibis": "ibis-framework", "botocore": "boto3"}

    for extra, modules in MODULES.items():
        provided = {Requirement(requirement).name for requirement in optional[extra]}
        assert {distributions.get(module, module) for module in modules} == provided
