"""Serving: several worker processes behind one port, started and stopped in order."""

import os
import shutil
from pathlib import Path

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

HEADER_MILLISECONDS = 8_000
HEADER_BYTES_MAX = 65_536
STOP_SECONDS = 15


def serve(*, host: str, port: int, workers: int, database_url: str, data: Path) -> None:
    """Until SIGTERM or Ctrl-C; requests under way are answered first."""
    os.environ["NIMBILL_DATABASE_URL"] = database_url
    os.environ["NIMBILL_DATA"] = str(data)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_empty_folder(data / "metrics"))
    Granian(
        "nimbill.app:create_app",
        factory=True,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        workers=workers,
        http=HTTPModes.http1,
        websockets=False,
        http1_settings=HTTP1Settings(
            header_read_timeout=HEADER_MILLISECONDS, max_buffer_size=HEADER_BYTES_MAX
        ),
        log_level=LogLevels.warning,
        respawn_failed_workers=True,
        workers_kill_timeout=STOP_SECONDS,
    ).serve()


def _empty_folder(folder: Path) -> Path:
    """Figures of workers that are gone would be counted for ever."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    return folder
