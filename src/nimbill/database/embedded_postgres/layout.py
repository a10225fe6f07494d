"""Paths inside the data folder."""

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
        """Contains data and passwords, so that one rename creates both."""
        return self.folder / "cluster"

    @property
    def new_cluster(self) -> Path:
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
        """Output of initdb, and of the server until it opens its daily log."""
        return self.logs / "start.log"

    def log_tail(self) -> str:
        """The last lines of the logs. The log written last comes last: it has the reason."""
        files = [self.start_log, *self.logs.glob("postgres-*.log")]
        by_time = sorted((file for file in files if file.exists()), key=_modified)
        lines = [line for file in by_time[-2:] for line in _last_lines(file)]
        return "\n".join(lines[-LOG_TAIL_LINES:]) or "(the log is empty)"


def _modified(path: Path) -> float:
    return path.stat().st_mtime


def _last_lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
        return file.read().decode(errors="replace").splitlines()
