"""Settings from environment variables, which all start with NIMBILL_."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from nimbill.foundation.errors import OperatorError

DATABASE_SCHEMES = ("postgresql", "postgresql+asyncpg", "postgres")
DATABASE_PARAMETERS = frozenset({"host", "port", "prepared_statement_cache_size", "ssl", "sslmode"})

Network = IPv4Network | IPv6Network

NUMBER_MAX = 1_000_000_000
RETENTION_YEARS_MAX = 100

ENGINES = ("duckdb", "spark")

DEFAULT_BASE_URL = "http://127.0.0.1:8080"

# In an import root it stands for the id of the caller's organisation.
ORGANISATION_PLACEHOLDER = "{organisation}"


class SettingsError(OperatorError):
    """A setting is invalid; the message names the variable and the rule."""


@dataclass(frozen=True, slots=True)
class Settings:
    data: Path
    database_url: str | None
    key_file: Path
    base_url: str
    link_url: str  # base of links in responses and mails; see _read_listen_url
    auth_url: str
    rate_limit: int  # requests per second and user; 0 switches it off
    body_seconds: int  # time limit for receiving a request's body
    pool_size: int  # database connections per worker
    core_token_seconds: int
    portal_token_seconds: int
    smtp_url: str | None  # without it, mails are written to the outbox folder
    mail_from: str
    trusted_proxies: tuple[Network, ...]  # only their X-Forwarded-For is used
    # folders and s3:// prefixes that callers may import from; see ORGANISATION_PLACEHOLDER
    import_roots: tuple[str, ...]
    lake_url: str  # storage of cost lines: a folder or s3://bucket/prefix
    engine: str  # query engine for sums: duckdb or spark
    spark_master: str | None
    import_memory_mib: int  # memory that the preparation of one import may use
    import_seconds: int  # time limit for the preparation; each MiB of files extends it
    disk_reserve_mib: int  # free space that uploads leave on the disk of the data folder
    # private networks that webhooks may be sent to, also without TLS; for development
    webhook_networks: tuple[Network, ...]
    retention_years: int  # an organisation with younger invoices cannot be deleted
    # All NIMBILL_ variables, for optional packages that have their own settings.
    environment: Mapping[str, str] = field(repr=False, compare=False)

    def to_child_environment(self) -> dict[str, str]:
        """The variables that a child process for cost files needs, and no others."""
        environment = {
            "NIMBILL_DATA": str(self.data),
            "NIMBILL_LAKE_URL": self.lake_url,
            "NIMBILL_ENGINE": self.engine,
            "NIMBILL_IMPORT_MEMORY_MIB": str(self.import_memory_mib),
            "NIMBILL_IMPORT_SECONDS": str(self.import_seconds),
        }
        return environment | (
            {"NIMBILL_SPARK_MASTER": self.spark_master} if self.spark_master else {}
        )


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Raises SettingsError for the first invalid variable. An empty variable counts as unset."""
    data = Path(environment.get("NIMBILL_DATA") or _default_data_folder(environment)).expanduser()
    base_url = read_url(environment, "NIMBILL_BASE_URL", DEFAULT_BASE_URL)
    link_url = base_url if environment.get("NIMBILL_BASE_URL") else _read_listen_url(environment)
    return Settings(
        data=data.absolute(),
        database_url=_parse_database_url(environment.get("NIMBILL_DATABASE_URL") or None),
        key_file=Path(environment.get("NIMBILL_KEY_FILE") or data / "key").absolute(),
        base_url=base_url,
        link_url=link_url,
        auth_url=read_url(environment, "NIMBILL_AUTH_URL", base_url),
        rate_limit=read_number(environment, "NIMBILL_RATE_LIMIT", 100),
        body_seconds=read_number(environment, "NIMBILL_BODY_SECONDS", 8, minimum=1),
        pool_size=read_number(environment, "NIMBILL_POOL_SIZE", 10, minimum=1),
        core_token_seconds=read_number(
            environment, "NIMBILL_CORE_TOKEN_SECONDS", 86_400, minimum=1
        ),
        portal_token_seconds=read_number(
            environment, "NIMBILL_PORTAL_TOKEN_SECONDS", 86_400, minimum=1
        ),
        smtp_url=_parse_smtp_url(environment.get("NIMBILL_SMTP_URL") or None),
        mail_from=environment.get("NIMBILL_MAIL_FROM") or "nimbill@localhost",
        trusted_proxies=_read_networks(environment, "NIMBILL_TRUSTED_PROXIES"),
        import_roots=_read_import_roots(
            environment, default=data.absolute() / "inbox" / ORGANISATION_PLACEHOLDER
        ),
        lake_url=_read_lake_url(environment, default=data.absolute() / "lake"),
        engine=_read_engine(environment),
        spark_master=_read_spark_master(environment),
        import_memory_mib=read_number(environment, "NIMBILL_IMPORT_MEMORY_MIB", 1536, minimum=256),
        import_seconds=read_number(environment, "NIMBILL_IMPORT_SECONDS", 600, minimum=1),
        disk_reserve_mib=read_number(environment, "NIMBILL_DISK_RESERVE_MIB", 1024),
        webhook_networks=_read_networks(environment, "NIMBILL_WEBHOOK_NETWORKS"),
        retention_years=read_number(
            environment, "NIMBILL_RETENTION_YEARS", 7, maximum=RETENTION_YEARS_MAX
        ),
        environment={
            name: value for name, value in environment.items() if name.startswith("NIMBILL_")
        },
    )


def _read_listen_url(environment: Mapping[str, str]) -> str:
    """`serve` sets this for its workers, so that links contain the actual port."""
    return read_url(environment, "NIMBILL_LISTENS_AT", DEFAULT_BASE_URL)


def _default_data_folder(environment: Mapping[str, str]) -> Path:
    share = environment.get("XDG_DATA_HOME")
    return Path(share or "~/.local/share") / "nimbill"


def _parse_smtp_url(url: str | None) -> str | None:
    """The error does not repeat the URL, which may contain a password."""
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise SettingsError("NIMBILL_SMTP_URL must be smtp://host:port or smtps://host:port")
    return url


def _read_networks(environment: Mapping[str, str], name: str) -> tuple[Network, ...]:
    networks = (environment.get(name) or "").replace(",", " ").split()
    try:
        return tuple(ip_network(network) for network in networks)
    except ValueError:
        raise SettingsError(f"{name} must list addresses or networks such as 10.0.0.0/8") from None


def _read_import_roots(environment: Mapping[str, str], default: Path) -> tuple[str, ...]:
    """A comma-separated list of absolute folders and prefixes of object stores."""
    value = environment.get("NIMBILL_IMPORT_ROOTS") or str(default)
    roots = tuple(root.strip() for root in value.split(",") if root.strip())
    if not all(_is_import_root(root) for root in roots):
        raise SettingsError(
            "NIMBILL_IMPORT_ROOTS must list absolute folders or s3://bucket/prefix, "
            f"separated by commas; {ORGANISATION_PLACEHOLDER} must be a whole part of the path"
        )
    return roots


def _is_import_root(root: str) -> bool:
    if "://" not in root:
        return Path(root).is_absolute() and _has_whole_placeholders(root)
    try:
        parts = urlsplit(root)
    except ValueError:
        return False
    is_address = parts.scheme == "s3" and bool(parts.netloc) and "@" not in parts.netloc
    outside_path = parts.netloc + parts.query + parts.fragment
    return (
        is_address
        and ORGANISATION_PLACEHOLDER not in outside_path
        and _has_whole_placeholders(parts.path)
    )


def _has_whole_placeholders(path: str) -> bool:
    """`in-{organisation}` is refused: a root must be a folder that belongs to nobody else."""
    return all(
        name == ORGANISATION_PLACEHOLDER or ORGANISATION_PLACEHOLDER not in name
        for name in path.split("/")
    )


def _read_lake_url(environment: Mapping[str, str], default: Path) -> str:
    """The error does not repeat the URL, which may contain credentials."""
    url = environment.get("NIMBILL_LAKE_URL") or str(default)
    if "://" not in url and Path(url).is_absolute():
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme != "s3" or not parts.hostname:
        raise SettingsError("NIMBILL_LAKE_URL must be an absolute folder or s3://bucket/prefix")
    return url


def _read_engine(environment: Mapping[str, str]) -> str:
    engine = environment.get("NIMBILL_ENGINE") or "duckdb"
    if engine not in ENGINES:
        raise SettingsError(f"NIMBILL_ENGINE must be one of {', '.join(ENGINES)}")
    if engine == "spark" and not environment.get("NIMBILL_SPARK_MASTER"):
        raise SettingsError(
            "NIMBILL_ENGINE=spark needs NIMBILL_SPARK_MASTER, for example spark://host:7077"
        )
    return engine


def _read_spark_master(environment: Mapping[str, str]) -> str | None:
    master = environment.get("NIMBILL_SPARK_MASTER") or None
    prefixes = ("spark://", "local", "yarn", "k8s://")
    if master is not None and not master.startswith(prefixes):
        raise SettingsError("NIMBILL_SPARK_MASTER must be like spark://host:7077")
    return master


def _parse_database_url(url: str | None) -> str | None:
    """The error does not repeat the URL, which contains a password."""
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        has_known_parameters = {name for name, _ in parse_qsl(parts.query)} <= DATABASE_PARAMETERS
        is_valid = parts.scheme in DATABASE_SCHEMES and (parts.port or 1) > 0
    except ValueError:
        has_known_parameters = is_valid = False
    if not is_valid:
        raise SettingsError(
            "NIMBILL_DATABASE_URL must be like postgresql://user:password@host:5432/database"
        )
    if not has_known_parameters:
        parameters = ", ".join(sorted(DATABASE_PARAMETERS))
        raise SettingsError(f"NIMBILL_DATABASE_URL accepts only the parameters {parameters}")
    return url


def read_url(environment: Mapping[str, str], name: str, default: str) -> str:
    url = (environment.get(name) or default).rstrip("/")
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or "?" in url or "#" in url:
        raise SettingsError(f"{name} must be an http or https URL without a query")
    return url


def read_number(
    environment: Mapping[str, str],
    name: str,
    default: int,
    minimum: int = 0,
    maximum: int = NUMBER_MAX,
) -> int:
    text = environment.get(name) or str(default)
    is_number = text.isascii() and text.isdigit() and len(text) <= 10
    if not is_number or not minimum <= int(text) <= maximum:
        raise SettingsError(f"{name} must be a whole number from {minimum} to {maximum}")
    return int(text)
