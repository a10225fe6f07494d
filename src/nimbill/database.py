"""The database a command works with: the one at the address given, or the embedded one."""

from collections.abc import Iterator
from contextlib import contextmanager

from nimbill.embedded_postgres import embedded_postgres
from nimbill.settings import Settings


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """Its address, for as long as it is needed; an embedded server is stopped by its last user."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with embedded_postgres(settings.data / "postgres") as address:
        yield address.url
