"""Refuses Parquet files that would grow too large when read, judging by their footers."""

from pathlib import Path

from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.parts import Limits
from nimbill.costs.ingestion.unpacked_size import ROWS_MIN, UnpackedSize


def refuse_parquet_bomb(
    name: str, path: Path, *, size: int, limits: Limits, total: UnpackedSize
) -> None:
    """Count the file in the `total` of the delivery.

    Ignore a footer that cannot be read: reading the lines reports it.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as file:  # Arrow reports a failed close without its errno
            footer = pq.read_metadata(file)
        groups = (footer.row_group(number) for number in range(footer.num_row_groups))
        uncompressed = sum(max(group.total_byte_size, 0) for group in groups)
        rows = footer.num_rows
    except (pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise  # the disk failed; a file that is not checked must not be read
        return
    if rows > ROWS_MIN and rows > size:
        raise delivery_error(name, "bomb", "very many")
    if uncompressed > limits.part_bytes_max:
        raise delivery_error(name, "too_large", limits.part_bytes_max)
    if uncompressed > limits.bomb_bytes_min and uncompressed > size * limits.bomb_ratio_max:
        raise delivery_error(name, "bomb", f"more than {limits.bomb_ratio_max}")
    total.add_file(size)
    total.add_content(name, uncompressed, rows=rows)
