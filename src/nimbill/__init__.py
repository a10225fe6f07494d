"""Cloud-cost billing for resellers."""

import sys

__version__ = "0.1.0"


def _load_structlog() -> None:
    """Without rich, which would take a third of the start of a small process.

    structlog only needs it for logs on a terminal; ours are JSON.
    """
    if "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # an import of it fails
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]


_load_structlog()
