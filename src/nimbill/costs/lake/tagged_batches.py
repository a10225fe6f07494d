"""Turns the rows of `TaggedSums` into those of the stored tagged sums: all tags in one column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def combine_tags(
    batches: Iterable[pa.RecordBatch], keys: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Replace `tag_1` and so on by `tags`: a JSON object of the keys that the lines have."""
    import pyarrow as pa

    names = [f"tag_{number}" for number in range(1, len(keys) + 1)]
    for batch in batches:
        values = zip(*(batch[name].to_pylist() for name in names), strict=True)
        tags = pa.array([_format_tags(keys, of_row) for of_row in values], pa.string())
        yield batch.drop_columns(names).append_column("tags", tags)


def _format_tags(keys: Sequence[str], values: Sequence[str | None]) -> str:
    tags = {key: value for key, value in zip(keys, values, strict=True) if value is not None}
    return json.dumps(tags, ensure_ascii=False)
