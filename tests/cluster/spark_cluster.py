"""A Spark cluster on localhost: a standalone master and its workers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 90
STOP_SECONDS = 20
LOG = "log.txt"
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"


class ClusterError(Exception):
    """The cluster cannot be started. The message says why."""


@dataclass(frozen=True, slots=True)
class SparkCluster:
    address: str  # of the master
    workers: list[subprocess.Popen[bytes]]

    def kill_worker(self) -> None:
        """Kill a worker with its executor at once, as a power cut would."""
        worker = self.workers[0]
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


@contextmanager
def spark_cluster(folder: Path, *, workers: int) -> Iterator[SparkCluster]:
    """Yield a running cluster; all processes end with the block."""
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise ClusterError(
            "Spark requires Java, which is not installed. Install version 17 or 21 "
            "(Debian and Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME."
        )
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        master = folder / "master"
        stack.enter_context(_process(master, MASTER, "--port", str(port)))
        _wait_for(master / LOG, "New state: ALIVE", times=1)
        started = [
            stack.enter_context(_worker(folder / f"worker-{number}", address))
            for number in range(1, workers + 1)
        ]
        _wait_for(master / LOG, "Registering worker", times=workers)
        yield SparkCluster(address, started)


def _worker(folder: Path, address: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    options = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work"))
    return _process(folder, WORKER, *options, address)


@contextmanager
def _process(folder: Path, class_name: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a Java process in a new process group."""
    import pyspark

    home = Path(pyspark.__file__).parent
    folder.mkdir(parents=True)
    command = [str(home / "bin" / "spark-class"), class_name, "--host", "127.0.0.1"]
    with (folder / LOG).open("wb") as output:
        process = subprocess.Popen(
            [*command, "--webui-port", "0", *options],
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ
            | {
                "SPARK_HOME": str(home),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_LOCAL_DIRS": str(folder / "local"),
                "SPARK_DAEMON_MEMORY": "512m",
            },
        )
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Terminate the process, so that a worker ends its executors; then kill the group."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _wait_for(log: Path, text: str, *, times: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while log.read_text(errors="replace").count(text) < times:
        if time.monotonic() > deadline:
            raise ClusterError(f"{log.parent.name} did not log {text!r}:\n{log.read_text()}")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        return port
