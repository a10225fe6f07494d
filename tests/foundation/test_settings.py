"""Settings: defaults, accepted values, and errors that name the variable but no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from nimbill.foundation.settings import SettingsError, read_settings


def settings_error(**environment: str) -> str:
    with pytest.raises(SettingsError) as refused:
        read_settings(environment)
    return str(refused.value)


def test_every_setting_has_a_default() -> None:
    settings = read_settings({})

    assert settings.database_url is None
    assert settings.base_url == "http://127.0.0.1:8080"
    assert settings.auth_url == settings.base_url
    assert settings.rate_limit == 100
    assert settings.data.is_absolute()
    assert settings.key_file == settings.data / "key"


def test_tokens_are_valid_for_a_day_by_default() -> None:
    settings = read_settings({})

    assert settings.core_token_seconds == 86_400
    assert settings.portal_token_seconds == 86_400


def test_an_empty_variable_counts_as_unset() -> None:
    empty = {
        "NIMBILL_DATA": "",
        "NIMBILL_DATABASE_URL": "",
        "NIMBILL_KEY_FILE": "",
        "NIMBILL_BASE_URL": "",
        "NIMBILL_RATE_LIMIT": "",
    }

    assert read_settings(empty) == read_settings({})


def test_the_data_folder_follows_xdg_or_the_setting(tmp_path: Path) -> None:
    assert read_settings({"XDG_DATA_HOME": str(tmp_path)}).data == tmp_path / "nimbill"
    assert read_settings({"NIMBILL_DATA": str(tmp_path)}).data == tmp_path
    assert read_settings({"NIMBILL_DATA": "~/bills"}).data == Path.home() / "bills"


def test_the_key_file_may_be_outside_the_data_folder(tmp_path: Path) -> None:
    settings = read_settings({"NIMBILL_DATA": "/data", "NIMBILL_KEY_FILE": str(tmp_path / "key")})

    assert settings.key_file == tmp_path / "key"


def test_relative_paths_become_absolute() -> None:
    settings = read_settings({"NIMBILL_DATA": "here", "NIMBILL_KEY_FILE": "there/key"})

    assert settings.data == Path.cwd() / "here"
    assert settings.key_file == Path.cwd() / "there" / "key"


def test_base_url_and_auth_url_may_differ() -> None:
    settings = read_settings(
        {
            "NIMBILL_BASE_URL": "https://billing.example/",
            "NIMBILL_AUTH_URL": "https://login.example:8443",
        }
    )

    assert settings.base_url == "https://billing.example"
    assert settings.auth_url == "https://login.example:8443"


@pytest.mark.parametrize("name", ["NIMBILL_BASE_URL", "NIMBILL_AUTH_URL"])
@pytest.mark.parametrize(
    "url",
    [
        "billing.example",
        "ftp://billing.example",
        "http://",
        "http://:8080",
        "http://[::1",
        "http://host:port",
        "http://host:0",
        "http://host?a=1",
        "http://host#a",
    ],
)
def test_an_invalid_url_is_refused_by_name(name: str, url: str) -> None:
    assert settings_error(**{name: url}) == f"{name} must be an http or https URL without a query"


@pytest.mark.parametrize("text", ["-1", "1.5", "ten", " 1", "１", "²", "1" + "0" * 10, "9" * 5000])
def test_an_invalid_number_is_refused_by_name(text: str) -> None:
    assert settings_error(NIMBILL_RATE_LIMIT=text) == (
        "NIMBILL_RATE_LIMIT must be a whole number from 0 to 1000000000"
    )


@pytest.mark.parametrize(
    "name",
    [
        "NIMBILL_BODY_SECONDS",
        "NIMBILL_POOL_SIZE",
        "NIMBILL_CORE_TOKEN_SECONDS",
        "NIMBILL_PORTAL_TOKEN_SECONDS",
    ],
)
def test_zero_is_refused_where_a_positive_number_is_needed(name: str) -> None:
    assert settings_error(**{name: "0"}) == f"{name} must be a whole number from 1 to 1000000000"


def test_a_rate_limit_of_zero_is_accepted() -> None:
    assert read_settings({"NIMBILL_RATE_LIMIT": "0"}).rate_limit == 0


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@host:5432/db",
        "postgres://u:p@host/db?sslmode=require",
        "postgresql+asyncpg://u:p@/db?host=/run/postgresql&port=5432",
    ],
)
def test_a_valid_database_url_is_kept_unchanged(url: str) -> None:
    assert read_settings({"NIMBILL_DATABASE_URL": url}).database_url == url


@pytest.mark.parametrize(
    "url",
    [
        "mysql://u:canary@host/db",
        "host=localhost password=canary",
        "postgresql://u:canary@host:none/db",
        "postgresql://u:canary@host:99999/db",
        "postgresql://u:canary@[::1/db",
        "postgresql://u:canary@host/db?options=-c",
    ],
)
def test_an_invalid_database_url_is_refused_without_its_password(url: str) -> None:
    message = settings_error(NIMBILL_DATABASE_URL=url)

    assert message.startswith("NIMBILL_DATABASE_URL")
    assert "canary" not in message


def test_imports_come_from_the_organisations_own_inbox_by_default(tmp_path: Path) -> None:
    roots = read_settings({"NIMBILL_DATA": str(tmp_path)}).import_roots

    assert roots == (f"{tmp_path}/inbox/{{organisation}}",)


def test_import_roots_are_separated_by_commas_and_may_name_the_organisation() -> None:
    value = "/srv/{organisation}/reports, s3://bills/{organisation}?region=eu ,/srv/a folder"

    roots = read_settings({"NIMBILL_IMPORT_ROOTS": value}).import_roots

    assert roots == (
        "/srv/{organisation}/reports",
        "s3://bills/{organisation}?region=eu",
        "/srv/a folder",
    )


@pytest.mark.parametrize(
    "value",
    [
        "/srv/in-{organisation}",
        "s3://{organisation}/cur",
        "s3://bills/{organisation}-cur",
        "s3://bills/cur?region={organisation}",
    ],
)
def test_the_organisation_is_a_whole_part_of_a_roots_path(value: str) -> None:
    message = settings_error(NIMBILL_IMPORT_ROOTS=value)

    assert message.startswith("NIMBILL_IMPORT_ROOTS")
    assert "{organisation}" in message


@pytest.mark.parametrize(
    "value",
    ["reports", "/srv,reports", "s3://", "http://x/y", "s3://key:secret@bills", "s3://[x"],
)
def test_import_roots_must_be_absolute_and_without_credentials(value: str) -> None:
    message = settings_error(NIMBILL_IMPORT_ROOTS=value)

    assert message.startswith("NIMBILL_IMPORT_ROOTS")
    assert "secret" not in message


def test_by_default_the_lake_is_in_the_data_folder_and_duckdb_computes_sums(
    tmp_path: Path,
) -> None:
    settings = read_settings({"NIMBILL_DATA": str(tmp_path)})

    assert settings.lake_url == f"{tmp_path}/lake"
    assert (settings.engine, settings.spark_master) == ("duckdb", None)


@pytest.mark.parametrize("url", ["/srv/lake", "s3://bills/lake?region=eu-west-1"])
def test_the_lake_is_a_folder_or_a_prefix_of_an_object_store(url: str) -> None:
    assert read_settings({"NIMBILL_LAKE_URL": url}).lake_url == url


@pytest.mark.parametrize("url", ["lake", "http://canary/x", "s3://", "s3:///x", "s3://[canary"])
def test_an_invalid_lake_url_is_refused_and_not_repeated(url: str) -> None:
    message = settings_error(NIMBILL_LAKE_URL=url)

    assert message.startswith("NIMBILL_LAKE_URL")
    assert "canary" not in message


def test_spark_needs_the_url_of_its_master() -> None:
    master = "spark://127.0.0.1:7077"
    settings = read_settings({"NIMBILL_ENGINE": "spark", "NIMBILL_SPARK_MASTER": master})

    assert (settings.engine, settings.spark_master) == ("spark", master)
    assert "NIMBILL_SPARK_MASTER" in settings_error(NIMBILL_ENGINE="spark")
    assert settings_error(NIMBILL_SPARK_MASTER="127.0.0.1:7077").startswith("NIMBILL_SPARK_MASTER")
    assert settings_error(NIMBILL_ENGINE="pandas").startswith("NIMBILL_ENGINE")
