"""Where a database is and how to be let in."""

from dataclasses import dataclass, field
from urllib.parse import quote, urlencode


@dataclass(frozen=True, slots=True)
class Address:
    """`host` is the folder of a Unix socket, as libpq and asyncpg take it."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)  # addresses end up in logs
    database: str

    @property
    def url(self) -> str:
        """For SQLAlchemy. It contains the password."""
        who = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        # A path cannot stand where the host stands in a URL.
        where = urlencode({"host": self.host, "port": self.port}, quote_via=quote)
        return f"postgresql+asyncpg://{who}@/{quote(self.database, safe='')}?{where}"
