"""Finds environment variables that look like settings but are none."""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches

PREFIX = "NIMBILL_"

# Every variable that the product reads; extensions add their own.
SETTING_NAMES = frozenset(
    f"{PREFIX}{name}"
    for name in (
        "AUTH_URL",
        "BASE_URL",
        "BODY_SECONDS",
        "CORE_TOKEN_SECONDS",
        "DATA",
        "DATABASE_URL",
        "DISK_RESERVE_MIB",
        "ENGINE",
        "IMPORT_MEMORY_MIB",
        "IMPORT_ROOTS",
        "IMPORT_SECONDS",
        "KEY_FILE",
        "LAKE_URL",
        "LISTENS_AT",  # set by `serve` for its workers
        "MAIL_FROM",
        "POOL_SIZE",
        "PORTAL_TOKEN_SECONDS",
        "RATE_LIMIT",
        "RETENTION_YEARS",
        "SMTP_URL",
        "SPARK_MASTER",
        "TRUSTED_PROXIES",
        "WEBHOOK_NETWORKS",
    )
)


def find_unknown_settings(environment: Mapping[str, str], known: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each unknown variable, with the nearest name. Values are not shown."""
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name in known:
            continue
        nearest = get_close_matches(name, sorted(known), n=1)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        yield f"{name} is not a setting and has no effect.{hint}"
