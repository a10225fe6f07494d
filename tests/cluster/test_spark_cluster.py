"""Starting a Spark cluster without Java."""

from pathlib import Path

import pytest

from tests.cluster.spark_cluster import ClusterError, spark_cluster


def test_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    with (
        pytest.raises(ClusterError, match="Spark requires Java"),
        spark_cluster(tmp_path, workers=2),
    ):
        pass

    assert list(tmp_path.iterdir()) == []
