"""Bodies and routes are imported only inside their package, and where they are put together."""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "nimbill"
COMPOSING_PACKAGES = ("application", "commands")  # they put requests and routes together
APPROVALS = "approval.py"  # executes the approved requests of other packages


def foreign_imports(source: Path) -> Iterator[str]:
    """Imports of bodies or routes from another feature package."""
    for file in sorted(source.rglob("*.py")):
        if file.name == APPROVALS:
            continue
        importer = file.relative_to(source).parts
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                root, *package = node.module.split(".")
                private = root == "nimbill" and package[-1] in ("bodies", "routes")
                if private and importer[0] not in (package[0], *COMPOSING_PACKAGES):
                    yield f"{file.relative_to(source)} imports {node.module}"


def test_no_package_imports_the_bodies_of_another() -> None:
    assert list(foreign_imports(SOURCE)) == []


def test_a_foreign_import_is_found(tmp_path: Path) -> None:
    (tmp_path / "customers").mkdir()
    (tmp_path / "customers" / "operations.py").write_text(
        "from nimbill.identity.users.bodies import Subuser\n"
    )

    assert list(foreign_imports(tmp_path)) == [
        "customers/operations.py imports nimbill.identity.users.bodies"
    ]
