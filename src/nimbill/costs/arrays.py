"""Numbers of numpy handed to Arrow as they lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def integers(numbers: np.ndarray[Any, np.dtype[np.signedinteger[Any]]]) -> pa.Array:
    """`pa.array` would ask pandas first, and loading pandas takes longer than most imports."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(
        kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))]
    )
