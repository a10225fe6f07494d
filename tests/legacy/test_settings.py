"""The settings of version 3: their defaults, and the values that are refused."""

from __future__ import annotations

import pytest

from nimbill.application.installed import load_settings
from nimbill.foundation.settings import SettingsError, read_settings
from nimbill.legacy.settings import LegacySettings, read_legacy_settings


def read(**environment: str) -> LegacySettings:
    return read_legacy_settings(read_settings(environment))


def refusal(**environment: str) -> str:
    """The message with which the program refuses to start."""
    with pytest.raises(SettingsError) as refused:
        load_settings(environment)
    return str(refused.value)


def test_nothing_need_be_set() -> None:
    settings = read()

    assert settings.url == settings.agent_url == settings.own_url == "http://127.0.0.1:8080"
    assert settings.token_seconds == 43_200
    assert settings.provisioner == "local"
    assert settings.aws_endpoint_url is None


def test_version_3_may_have_an_address_of_its_own() -> None:
    settings = read(
        NIMBILL_BASE_URL="https://billing.example", NIMBILL_LEGACY_URL="https://old.example/api/"
    )

    assert settings.url == settings.agent_url == settings.own_url == "https://old.example/api"


def test_agents_on_this_machine_use_the_port_that_the_server_listens_on() -> None:
    settings = read(
        NIMBILL_BASE_URL="https://billing.example", NIMBILL_LISTENS_AT="http://127.0.0.1:9000"
    )

    assert settings.url == settings.agent_url == "https://billing.example"
    assert settings.own_url == "http://127.0.0.1:9000"


def test_instances_are_simulated_unless_aws_is_chosen() -> None:
    settings = read(NIMBILL_PROVISIONER="aws", NIMBILL_AWS_ENDPOINT_URL="http://127.0.0.1:4566/")

    assert settings.provisioner == "aws"
    assert settings.aws_endpoint_url == "http://127.0.0.1:4566"
    assert refusal(NIMBILL_PROVISIONER="gcp") == "NIMBILL_PROVISIONER must be one of local, aws"


@pytest.mark.parametrize("name", ["NIMBILL_LEGACY_URL", "NIMBILL_AWS_ENDPOINT_URL"])
@pytest.mark.parametrize("address", ["old.example", "ftp://old.example", "http://host?a=1"])
def test_an_invalid_address_is_refused_by_name(name: str, address: str) -> None:
    assert refusal(**{name: address}) == f"{name} must be an http or https URL without a query"


def test_a_token_lives_at_least_one_second() -> None:
    assert refusal(NIMBILL_LEGACY_TOKEN_SECONDS="0") == (
        "NIMBILL_LEGACY_TOKEN_SECONDS must be a whole number from 1 to 1000000000"
    )
