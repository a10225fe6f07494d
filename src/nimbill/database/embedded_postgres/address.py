"""Address and credentials of a database."""

from dataclasses import dataclass, field
from urllib.parse import quote, urlencode


@dataclass(frozen=True, slots=True)
class Address:
    """`host` is the folder of a Unix socket, as libpq and asyncpg accept it."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)  # addresses are logged
    database: str

    @property
    def url(self) -> str:
        """For SQLAlchemy. It contains the password."""
        credentials = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}"
        # A path cannot be the host part of a URL.
        socket = urlencode({"host": self.host, "port": self.port}, quote_via=quote)
        return f"postgresql+asyncpg://{credentials}@/{quote(self.database, safe='')}?{socket}"
