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
    tests: tuple[str, ...]  # run one after the other until one fails

    def list_files(self, root: Path) -> Iterator[Path]:
        for pattern in self.files:
            found = sorted((root / SOURCE).glob(pattern))
            assert found, f"{pattern} names no file"
            yield from (path.relative_to(root) for path in found if path.name != "__init__.py")


AREAS = (
    Area(
        "access",
        ("access/*.py", "identity/users/operations.py", "identity/rbac/operations.py"),
        ("tests/access", "tests/identity", "tests/contract/test_gate.py", "tests/legacy/roles"),
    ),
    Area(
        "money",
        ("foundation/money.py", "invoicing/calculation/*.py"),
        ("tests/foundation", "tests/invoicing/calculation", "tests/invoicing"),
    ),
    Area(
        "import commit",
        ("imports/commit_import.py", "imports/anomaly_*.py", "imports/preparation*.py"),
        ("tests/imports", "tests/costs", "tests/adjustments"),
    ),
    Area("months", ("costs/months/*.py",), ("tests/costs", "tests/imports", "tests/invoicing")),
    Area("idempotency", ("http/idempotency.py",), ("tests/http", "tests/contract")),
    Area(
        "limits",
        ("application/middleware.py", "foundation/exact_json.py", "costs/ingestion/parts.py"),
        ("tests/foundation", "tests/application", "tests/http", "tests/costs/ingestion"),
    ),
)
