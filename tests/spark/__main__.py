"""`make test-spark`: runs the tests of sums on a Spark cluster that it starts and stops."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.spark.cluster import ClusterError, spark_cluster

ROOT = Path(__file__).parents[2]
TESTS = "tests/costs/lake/test_sums.py"
# Spark's Python client leaves its sockets to the garbage collector
IGNORED_WARNINGS = ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

# the months are small, and the default of 200 partitions would take long
CONFIGURATION = "spark.sql.shuffle.partitions 4\nspark.executor.memory 512m\n"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nimbill-spark-") as folder:
        shared = Path(folder) / "shared"
        shared.mkdir()
        try:
            with spark_cluster(Path(folder), workers=2) as master:
                print(f"A master and two workers are running at {master}", flush=True)
                return _test(master, shared)
        except ClusterError as error:
            print(error, file=sys.stderr)
            return 2


def _test(master: str, shared: Path) -> int:
    """Run pytest in a new process, so that its Java process ends with it."""
    configuration = shared.parent / "configuration"
    configuration.mkdir()
    (configuration / "spark-defaults.conf").write_text(CONFIGURATION)
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS),
            *(option for warning in IGNORED_WARNINGS for option in ("-W", warning)),
            *sys.argv[1:],
        ],
        cwd=ROOT,
        env=os.environ
        | {
            "NIMBILL_SPARK_MASTER": master,
            "NIMBILL_SHARED_FOLDER": str(shared),
            "SPARK_CONF_DIR": str(configuration),
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
