"""The source files that get mutants, and the tests that must notice them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path("src/nimbill")


@dataclass(frozen=True, slots=True)
class Area:
    name: str
    files: tuple[str, ...]  # patterns below src/nimbill
    tests: tuple[str, ...]  # of those that execute a mutant, these are run before others

    def list_files(self, root: Path) -> Iterator[Path]:
        for pattern in self.files:
            found = sorted((root / SOURCE).glob(pattern))
            assert found, f"{pattern} names no file"
            yield from (path.relative_to(root) for path in found if path.name != "__init__.py")


# A file that runs in a process of its own, and the file that starts the process. Lines that no test
# executes in its own process are given to the tests that start one.
IN_SUBPROCESS = {
    "src/nimbill/imports/preparation.py": "src/nimbill/imports/preparation_process.py",
}

AREAS = (
    Area(
        "access",
        ("access/*.py", "identity/users/operations.py", "identity/rbac/operations.py"),
        (
            *("tests/access", "tests/identity", "tests/contract/test_gate.py"),
            "tests/legacy/roles",  # version 3
        ),
    ),
    Area(
        "money",
        ("foundation/money.py", "invoicing/calculation/*.py"),
        ("tests/foundation", "tests/invoicing/calculation", "tests/invoicing"),
    ),
    Area(
        "import commit",
        (
            "imports/commit_import.py",
            "imports/anomaly_*.py",
            "imports/preparation*.py",
            "imports/*_conversion.py",
        ),
        ("tests/imports", "tests/costs", "tests/adjustments"),
    ),
    Area(
        "months",
        ("costs/months/*.py",),
        ("tests/costs", "tests/imports", "tests/invoicing", "tests/closing", "tests/approvals"),
    ),
    Area("idempotency", ("http/idempotency.py",), ("tests/http", "tests/contract")),
    Area(
        "limits",
        ("application/middleware.py", "foundation/exact_json.py", "costs/ingestion/parts.py"),
        ("tests/foundation", "tests/application", "tests/http", "tests/costs/ingestion"),
    ),
)

# The tests of which the executed lines are recorded.
RECORDED_TESTS = (
    *("tests/foundation", "tests/http", "tests/application", "tests/access", "tests/contract"),
    "tests/legacy/roles",  # version 3
    *("tests/identity", "tests/costs", "tests/imports", "tests/adjustments"),
    *("tests/invoicing", "tests/credit_notes", "tests/receivables", "tests/issuing"),
    *("tests/corrections", "tests/closing", "tests/approvals"),
)
# They run the whole product in processes of its own, which takes minutes.
NOT_RECORDED_TESTS = (
    "tests/application/test_without_legacy.py",  # version 3
)
