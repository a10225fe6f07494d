"""The environment, read once, typed; every setting starts with NIMBILL_."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

DATABASE_SCHEMES = ("postgresql", "postgresql+asyncpg", "postgres")
DATABASE_PARAMETERS = frozenset({"host", "port", "prepared_statement_cache_size", "ssl", "sslmode"})

Network = IPv4Network | IPv6Network

NUMBER_MAX = 1_000_000_000

ENGINES = ("duckdb", "spark")

DEFAULT_BASE_URL = "http://127.0.0.1:8080"


class SettingsError(Exception):
    """A setting cannot be used; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Settings:
    data: Path
    database_url: str | None
    key_file: Path
    base_url: str
    link_url: str  # where links in answers and letters lead: the base, or where we listen
    auth_url: str
    rate_limit: int  # requests a second per user, 0 = off
    body_seconds: int  # within which a request's body must have arrived
    pool_size: int  # database connections per worker
    core_token_seconds: int
    portal_token_seconds: int
    smtp_url: str | None  # letters go to the outbox folder without one
    mail_from: str
    trusted_proxies: tuple[Network, ...]  # whose X-Forwarded-For is believed
    import_roots: tuple[str, ...]  # folders and s3:// prefixes that callers may import from
    lake_url: str  # where the cost lines lie: a folder, or s3://bucket/prefix
    engine: str  # what works out sums: duckdb or spark
    spark_master: str | None
    # every NIMBILL_ variable, for optional parts that have settings of their own
    environment: Mapping[str, str] = field(repr=False, compare=False)

    def for_a_process(self) -> dict[str, str]:
        """What a process that works on costs needs to know, and not a word more."""
        told = {
            "NIMBILL_DATA": str(self.data),
            "NIMBILL_LAKE_URL": self.lake_url,
            "NIMBILL_ENGINE": self.engine,
        }
        return told | ({"NIMBILL_SPARK_MASTER": self.spark_master} if self.spark_master else {})


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings, with their defaults; SettingsError where one cannot be used."""
    data = Path(environment.get("NIMBILL_DATA") or _default_data(environment)).expanduser()
    base_url = read_url(environment, "NIMBILL_BASE_URL", DEFAULT_BASE_URL)
    link_url = base_url if environment.get("NIMBILL_BASE_URL") else _listens_at(environment)
    return Settings(
        data=data.absolute(),
        database_url=_database_url(environment.get("NIMBILL_DATABASE_URL") or None),
        key_file=Path(environment.get("NIMBILL_KEY_FILE") or data / "key").absolute(),
        base_url=base_url,
        link_url=link_url,
        auth_url=read_url(environment, "NIMBILL_AUTH_URL", base_url),
        rate_limit=read_number(environment, "NIMBILL_RATE_LIMIT", 100),
        body_seconds=read_number(environment, "NIMBILL_BODY_SECONDS", 8, least=1),
        pool_size=read_number(environment, "NIMBILL_POOL_SIZE", 10, least=1),
        core_token_seconds=read_number(environment, "NIMBILL_CORE_TOKEN_SECONDS", 86_400, least=1),
        portal_token_seconds=read_number(
            environment, "NIMBILL_PORTAL_TOKEN_SECONDS", 86_400, least=1
        ),
        smtp_url=_smtp_url(environment.get("NIMBILL_SMTP_URL") or None),
        mail_from=environment.get("NIMBILL_MAIL_FROM") or "nimbill@localhost",
        trusted_proxies=_networks(environment, "NIMBILL_TRUSTED_PROXIES"),
        import_roots=_import_roots(environment, default=data.absolute() / "inbox"),
        lake_url=_lake_url(environment, default=data.absolute() / "lake"),
        engine=_engine(environment),
        spark_master=_spark_master(environment),
        environment={
            name: value for name, value in environment.items() if name.startswith("NIMBILL_")
        },
    )


def _listens_at(environment: Mapping[str, str]) -> str:
    """Set by `serve` for its workers, so that a link works on whatever port it was given."""
    return read_url(environment, "NIMBILL_LISTENS_AT", DEFAULT_BASE_URL)


def _default_data(environment: Mapping[str, str]) -> Path:
    share = environment.get("XDG_DATA_HOME")
    return Path(share or "~/.local/share") / "nimbill"


def _smtp_url(written: str | None) -> str | None:
    """Never repeated in the refusal: it may hold a password."""
    if written is None:
        return None
    parts = urlsplit(written)
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise SettingsError("NIMBILL_SMTP_URL must be smtp://host:port or smtps://host:port")
    return written


def _networks(environment: Mapping[str, str], name: str) -> tuple[Network, ...]:
    written = (environment.get(name) or "").replace(",", " ").split()
    try:
        return tuple(ip_network(one) for one in written)
    except ValueError:
        raise SettingsError(f"{name} must list addresses or networks such as 10.0.0.0/8") from None


def _import_roots(environment: Mapping[str, str], default: Path) -> tuple[str, ...]:
    """By comma: folders from the top, and prefixes of object stores."""
    written = environment.get("NIMBILL_IMPORT_ROOTS") or str(default)
    roots = tuple(one.strip() for one in written.split(",") if one.strip())
    if not all(_is_import_root(root) for root in roots):
        raise SettingsError(
            "NIMBILL_IMPORT_ROOTS must list absolute folders or s3://bucket/prefix, by comma"
        )
    return roots


def _is_import_root(written: str) -> bool:
    if "://" not in written:
        return Path(written).is_absolute()
    try:
        parts = urlsplit(written)
    except ValueError:
        return False
    return parts.scheme == "s3" and bool(parts.netloc) and "@" not in parts.netloc


def _lake_url(environment: Mapping[str, str], default: Path) -> str:
    """Never repeated in the refusal: it may hold credentials."""
    written = environment.get("NIMBILL_LAKE_URL") or str(default)
    if "://" not in written and Path(written).is_absolute():
        return written
    try:
        parts = urlsplit(written)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme != "s3" or not parts.hostname:
        raise SettingsError("NIMBILL_LAKE_URL must be an absolute folder or s3://bucket/prefix")
    return written


def _engine(environment: Mapping[str, str]) -> str:
    written = environment.get("NIMBILL_ENGINE") or "duckdb"
    if written not in ENGINES:
        raise SettingsError(f"NIMBILL_ENGINE must be one of {', '.join(ENGINES)}")
    if written == "spark" and not environment.get("NIMBILL_SPARK_MASTER"):
        raise SettingsError("NIMBILL_ENGINE=spark needs NIMBILL_SPARK_MASTER, spark://host:7077")
    return written


def _spark_master(environment: Mapping[str, str]) -> str | None:
    written = environment.get("NIMBILL_SPARK_MASTER") or None
    known = ("spark://", "local", "yarn", "k8s://")
    if written is not None and not written.startswith(known):
        raise SettingsError("NIMBILL_SPARK_MASTER must be like spark://host:7077")
    return written


def _database_url(written: str | None) -> str | None:
    """Never repeated in the refusal: it holds a password."""
    if written is None:
        return None
    try:
        parts = urlsplit(written)
        known = {name for name, _ in parse_qsl(parts.query)} <= DATABASE_PARAMETERS
        sound = parts.scheme in DATABASE_SCHEMES and (parts.port or 1) > 0
    except ValueError:
        known = sound = False
    if not sound:
        raise SettingsError(
            "NIMBILL_DATABASE_URL must be like postgresql://user:password@host:5432/database"
        )
    if not known:
        parameters = ", ".join(sorted(DATABASE_PARAMETERS))
        raise SettingsError(f"NIMBILL_DATABASE_URL may carry the parameters {parameters}")
    return written


def read_url(environment: Mapping[str, str], name: str, default: str) -> str:
    address = (environment.get(name) or default).rstrip("/")
    try:
        parts = urlsplit(address)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or "?" in address or "#" in address:
        raise SettingsError(f"{name} must be an http or https address without query")
    return address


def read_number(environment: Mapping[str, str], name: str, default: int, least: int = 0) -> int:
    written = environment.get(name) or str(default)
    digits = written.isascii() and written.isdigit() and len(written) <= 10
    if not digits or not least <= int(written) <= NUMBER_MAX:
        raise SettingsError(f"{name} must be a whole number from {least} to {NUMBER_MAX}")
    return int(written)
