"""What `make test-spark` needs, said where it is missing."""

from pathlib import Path

import pytest

from tests.spark.cluster import ClusterError, spark_cluster


def test_without_java_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    with (
        pytest.raises(ClusterError, match="There is no Java on this machine"),
        spark_cluster(tmp_path, workers=2),
    ):
        pass

    assert list(tmp_path.iterdir()) == []
