"""Prevents pyarrow from loading pandas, which is not used and takes about a second."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec


class _PandasBlocker(MetaPathFinder):
    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is blocked in this process", name=fullname)
        return None


def block_pandas() -> None:
    """Affects the whole process; call it only in processes of our own, before pyarrow loads."""
    sys.meta_path.insert(0, _PandasBlocker())
