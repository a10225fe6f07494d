"""Tests of Nimbill.

All test processes share compiled modules in `.cache/bytecode`, also where the environment forbids
writing them beside the sources. Without this, every process compiles all modules for seconds. A
copy of the project that a test runs uses the folder of the test, for the libraries.
"""

import os
import sys
from pathlib import Path

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / ".cache" / "bytecode"))
sys.dont_write_bytecode, sys.pycache_prefix = False, os.environ["PYTHONPYCACHEPREFIX"]
