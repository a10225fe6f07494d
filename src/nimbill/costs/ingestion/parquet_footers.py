"""Whether a Parquet file grows beyond all measure when it is read, by what its footer says."""

from pathlib import Path

from nimbill.costs.ingestion.delivery_errors import refused
from nimbill.costs.ingestion.parts import Limits

# Lines that are all alike take next to no room, and would be read for hours; no two lines of a
# vendor's file are, and each takes some bytes.
ROWS_MIN = 1_000_000


def refuse_parquet_bomb(name: str, path: Path, *, size: int, limits: Limits) -> None:
    """A footer that cannot be read says nothing here; whoever reads the lines will say so."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        footer = pq.read_metadata(path)
        groups = range(footer.num_row_groups)
        unpacked = sum(max(footer.row_group(at).total_byte_size, 0) for at in groups)
        rows = footer.num_rows
    except (pa.ArrowException, OSError):
        return
    if rows > ROWS_MIN and rows > size:
        raise refused(name, "bomb", "very many")
    if unpacked > limits.part_bytes_max:
        raise refused(name, "too_large", limits.part_bytes_max)
    if unpacked > limits.bomb_bytes_min and unpacked > size * limits.bomb_ratio_max:
        raise refused(name, "bomb", f"more than {limits.bomb_ratio_max}")
