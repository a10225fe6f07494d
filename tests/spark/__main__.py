"""`make test-spark`: start a cluster, run the tests of the sums on it, stop everything."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.spark.cluster import ClusterError, spark_cluster

ROOT = Path(__file__).parents[2]
TESTS = "tests/costs/lake/test_sums.py"
# Spark's Python side leaves its sockets to the garbage collector
NOT_OURS = ("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

# as an operator would: the months are small, and 200 partitions of nothing take their time
CONFIGURATION = "spark.sql.shuffle.partitions 4\nspark.executor.memory 512m\n"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="nimbill-spark-") as folder:
        shared = Path(folder) / "shared"
        shared.mkdir()
        try:
            with spark_cluster(Path(folder), workers=2) as master:
                print(f"a master and two workers run at {master}", flush=True)
                return _test(master, shared)
        except ClusterError as reason:
            print(reason, file=sys.stderr)
            return 2


def _test(master: str, shared: Path) -> int:
    """In a process of its own, whose Java side ends with it."""
    configuration = shared.parent / "configuration"
    configuration.mkdir()
    (configuration / "spark-defaults.conf").write_text(CONFIGURATION)
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TESTS),
            *(word for warning in NOT_OURS for word in ("-W", warning)),
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
