"""`make test-cluster`: runs the tests that need a Spark cluster, which it starts and stops."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.cluster.spark_cluster import ClusterError, spark_cluster
from tests.costs.object_store_server import CREDENTIALS

ROOT = Path(__file__).parents[2]
SUMS = "tests/costs/lake/test_sums.py"
MANY_MACHINES = "tests/cluster/check_many_machines.py"
# Spark's Python client leaves its sockets to the garbage collector
IGNORED_WARNINGS = ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

# the months are small, and the default of 200 partitions would take long
CONFIGURATION = "spark.sql.shuffle.partitions 4\nspark.executor.memory 512m\n"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nimbill-cluster-") as name:
        folder = Path(name)
        (folder / "spark-defaults.conf").write_text(CONFIGURATION)
        environment = {
            "PYTHONPATH": str(ROOT / "src"),  # the workers need the package, too
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
            **CREDENTIALS,
        }
        os.environ.update(environment)
        try:
            return _test_sums(folder) or _test(MANY_MACHINES)
        except ClusterError as error:
            print(error, file=sys.stderr)
            return 2


def _test_sums(folder: Path) -> int:
    shared = folder / "shared"
    shared.mkdir()
    with spark_cluster(folder / "spark", workers=2) as cluster:
        print(f"A master and two workers are running at {cluster.address}", flush=True)
        return _test(SUMS, NIMBILL_SPARK_MASTER=cluster.address, NIMBILL_SHARED_FOLDER=str(shared))


def _test(file: str, **environment: str) -> int:
    """Run pytest in a new process, so that its Java process ends with it."""
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file),
            *(option for warning in IGNORED_WARNINGS for option in ("-W", warning)),
            *sys.argv[1:],
        ],
        cwd=ROOT,
        env={**os.environ, **environment},
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
