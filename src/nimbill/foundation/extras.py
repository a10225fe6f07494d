"""The optional dependencies of the package, and the sentence that names a missing one."""

from importlib.util import find_spec

# The modules that each extra of pyproject.toml must provide.
MODULES = {
    "aws": ("boto3", "botocore"),  # version 3
    "spark": ("ibis", "pyspark"),
}


def describe_missing_extra(extra: str, needed_by: str) -> str | None:
    """Says what to install, or None if it is installed. Nothing is imported."""
    if all(find_spec(module) for module in MODULES[extra]):
        return None
    return (
        f"{needed_by} needs the extra nimbill[{extra}]. "
        f"Install it into the environment of this program: pip install 'nimbill[{extra}]'"
    )
