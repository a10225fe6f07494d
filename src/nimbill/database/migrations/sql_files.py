"""Executes the .sql files of a migration package."""

from pathlib import Path

from alembic import op


def execute_statements(file: Path) -> None:
    """Run a file whose statements each end with a semicolon at the end of a line."""
    for statement in file.read_text().split(";\n"):
        if statement.strip():
            op.get_bind().exec_driver_sql(statement)


def execute_function(file: Path) -> None:
    """Run a file that holds one CREATE FUNCTION, whose body may contain semicolons."""
    op.get_bind().exec_driver_sql(file.read_text())
