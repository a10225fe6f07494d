"""Tests of Nimbill.

All test processes share compiled modules in `.cache/bytecode`, also where the environment forbids
writing them beside the sources. Without this, every process compiles all modules for seconds.
"""

import os
import sys
from pathlib import Path

_BYTECODE_FOLDER = str(Path(__file__).parents[1] / ".cache" / "bytecode")

sys.dont_write_bytecode, sys.pycache_prefix = False, _BYTECODE_FOLDER
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["PYTHONPYCACHEPREFIX"] = _BYTECODE_FOLDER
