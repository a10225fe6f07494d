"""pyarrow loads pandas wherever it is installed, though nothing here asks for it: a second each."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec


class _LeavesOut(MetaPathFinder):
    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is left out of this process", name=fullname)
        return None


def leave_pandas_out() -> None:
    """Of this whole process, so only where nobody else's code runs, and before pyarrow's."""
    sys.meta_path.insert(0, _LeavesOut())
