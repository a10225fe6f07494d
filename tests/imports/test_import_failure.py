"""The cause of a failed import, in sentences without folders and credentials."""

from __future__ import annotations

import errno

import duckdb
import pytest
from sqlalchemy.exc import TimeoutError as PoolTimeout

from nimbill.costs.lake.lake_error import LakeError
from nimbill.imports.import_failure import PreparationFailed, describe_failure


def build_error(module: str, message: str) -> Exception:
    """An error of a library that need not be installed."""
    error: Exception = type("LibraryError", (Exception,), {"__module__": module})(message)
    return error


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (
            OSError(errno.ENOSPC, "x", "/private/imports/a"),
            "No space left on the disk of the data folder.",
        ),
        (
            duckdb.IOException('Could not write file "/private/x": No space left on device'),
            "No space left on the disk of the data folder.",
        ),
        (duckdb.OutOfMemoryException("Out of Memory Error: 4 GB"), "There is not enough memory."),
        (MemoryError(), "There is not enough memory."),
        (LakeError(None, "The bucket b does not exist."), "The bucket b does not exist."),
        (
            OSError("When reading key: AWS Error ACCESS_DENIED during GetObject"),
            "The object store denied access to the lake.",
        ),
        (
            build_error("py4j.protocol", "canary"),
            "The Spark cluster failed. Its log contains the reason.",
        ),
        (PoolTimeout(), "The database cannot be reached or is overloaded."),
        (PreparationFailed("It was ended."), "It was ended."),
    ],
)
def test_the_failed_part_is_named(error: Exception, cause: str) -> None:
    assert describe_failure(error) == cause


@pytest.mark.parametrize("error", [ValueError("canary"), duckdb.BinderException("canary")])
def test_messages_of_other_errors_are_not_repeated(error: Exception) -> None:
    assert describe_failure(error) is None
