"""The versions of everything that a measurement depends on."""

import platform
import subprocess
from importlib.metadata import version

from nimbill.database.embedded_postgres import bin_folder

PACKAGES = (
    "nimbill",
    "litestar",
    "granian",
    "msgspec",
    "sqlalchemy",
    "asyncpg",
    "fastapi",
    "pydantic",
    "pyjwt",
    "uvicorn",
    "uvloop",
    "pyarrow",
    "duckdb",
    "polars",
    "pandas",
    "typst",
)


def describe_versions() -> dict[str, str]:
    postgres = subprocess.run(
        [bin_folder() / "postgres", "--version"], capture_output=True, text=True, check=True
    )
    return {
        "python": platform.python_version(),
        "postgresql": postgres.stdout.split()[-1],
        **{name: version(name) for name in PACKAGES},
    }
