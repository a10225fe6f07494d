"""What lies where in the data folder."""

from dataclasses import dataclass
from pathlib import Path

OWNER = "nimbill"  # the role, and the database it owns
SUPERUSER = "postgres"
LOG_TAIL_LINES = 20
LOG_TAIL_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Layout:
    folder: Path

    @property
    def start_lock(self) -> Path:
        return self.folder / "start.lock"

    @property
    def users_lock(self) -> Path:
        return self.folder / "users.lock"

    @property
    def server_lock(self) -> Path:
        return self.folder / "server.lock"

    @property
    def cluster(self) -> Path:
        """Data and passwords together: they appear in one rename, or not at all."""
        return self.folder / "cluster"

    @property
    def cluster_being_made(self) -> Path:
        return self.folder / "cluster.new"

    @property
    def data(self) -> Path:
        return self.cluster / "data"

    @property
    def pid_file(self) -> Path:
        return self.data / "postmaster.pid"

    def password_file(self, user: str) -> Path:
        return self.cluster / f"{user}.password"

    @property
    def sockets(self) -> Path:
        return self.folder / "socket"

    @property
    def logs(self) -> Path:
        return self.folder / "log"

    @property
    def start_log(self) -> Path:
        """What initdb and the server say before the server opens its own daily log."""
        return self.logs / "start.log"

    def log_tail(self) -> str:
        daily = sorted(self.logs.glob("postgres-*.log"), key=lambda path: path.stat().st_mtime)
        files = [path for path in (self.start_log, *daily[-1:]) if path.exists()]
        lines = [line for path in files for line in _last_lines(path)]
        return "\n".join(lines[-LOG_TAIL_LINES:]) or "(the log is empty)"


def _last_lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
        return file.read().decode(errors="replace").splitlines()
