"""Converts the parts of a delivery on a Spark cluster, one task for each part.

The parts are copied into the lake first, so that the workers need to reach nothing else. A task
writes its lines to the lake and returns what it found. If a worker dies, Spark runs the task again;
what it had written has another name, and no record names it.
"""

from __future__ import annotations

import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath

from nimbill.costs.cost_file_error import CostFileError
from nimbill.costs.ingestion.conversion import refuse_contradictions
from nimbill.costs.ingestion.delivery_errors import delivery_error
from nimbill.costs.ingestion.import_warnings import ImportWarnings
from nimbill.costs.ingestion.parts import Delivery, Limits, Part
from nimbill.costs.ingestion.second_reading import Sums, add_up_sums
from nimbill.costs.ingestion.unpacked_size import UnpackedSize
from nimbill.costs.lake.parquet_files import Lake, import_folder
from nimbill.foundation.process_memory import limit_memory
from nimbill.imports.resource_watch import HARD_LIMIT_FACTOR, MIB
from nimbill.imports.stored_conversion import (
    ConversionOrder,
    StoredConversion,
    convert_and_store_part,
)

# See docs/choices.md, cost-engines.

PARTS_FOLDER = "parts"  # in place of a month
PARALLEL_COPIES = 8


@dataclass(frozen=True, slots=True)
class PartTask:
    """What a worker needs to convert one part."""

    piece: Delivery  # the delivery reduced to this part, whose path is a name in the lake
    number: int
    order: ConversionOrder
    memory_mib: int


PartResult = StoredConversion | CostFileError
RunTasks = Callable[[Sequence[PartTask]], list[PartResult]]


def convert_on_cluster(
    delivery: Delivery, order: ConversionOrder, *, memory_mib: int, run_tasks: RunTasks
) -> StoredConversion:
    """Raise the same CostFileError as a conversion on one machine."""
    lake = Lake(order.lake_url)
    with _copy_parts(lake, delivery, order) as parts:
        results = run_tasks(
            [
                PartTask(replace(delivery, parts=(part,)), number, order, memory_mib)
                for number, part in enumerate(parts)
            ]
        )
    conversion = _merge(_refuse_first_error(delivery, results, order.limits))
    refuse_contradictions(
        delivery, order.vendor, conversion.warnings, conversion.rows, conversion.lines
    )
    _remove_repeated_files(lake, conversion)
    return conversion


def run_on_spark(master: str, tasks: Sequence[PartTask]) -> list[PartResult]:
    """Return the results in the order of the tasks."""
    from nimbill.costs.lake.engines.spark_session import open_session

    with open_session(master) as session:
        parts = session.sparkContext.parallelize(tasks, len(tasks))
        results: list[PartResult] = parts.map(convert_part).collect()
        return results


def convert_part(task: PartTask) -> PartResult:
    """Runs on a worker. An invalid file is a result: another attempt would not accept it."""
    (part,) = task.piece.parts
    limit_memory(task.memory_mib * HARD_LIMIT_FACTOR * MIB)
    try:
        with tempfile.TemporaryDirectory(prefix="nimbill-part-") as name:
            folder = Path(name)
            path = Lake(task.order.lake_url).fetch(str(part.path), folder)
            return convert_and_store_part(
                replace(task.piece, parts=(replace(part, path=path),)),
                task.number,
                task.order,
                folder=folder / "lines",
                file_prefix=f"{task.number:05}-{secrets.token_hex(4)}-",
            )
    except CostFileError as error:
        return error
    except MemoryError:
        return delivery_error(part.name, "memory", task.memory_mib)


@contextmanager
def _copy_parts(lake: Lake, delivery: Delivery, order: ConversionOrder) -> Iterator[list[Part]]:
    """Yield the parts with their names in the lake as paths; remove them from it afterwards."""
    folder = import_folder(
        order.organisation_id, vendor=order.vendor, month=PARTS_FOLDER, import_id=order.import_id
    )
    names = [f"{folder}/{number:05}" for number in range(len(delivery.parts))]
    try:
        with ThreadPoolExecutor(PARALLEL_COPIES, thread_name_prefix="parts") as pool:
            list(pool.map(lake.copy, [part.path for part in delivery.parts], names))
        yield [
            replace(part, path=Path(name)) for part, name in zip(delivery.parts, names, strict=True)
        ]
    finally:
        with suppress(OSError):  # the files of an import that fails are removed later
            lake.remove(names)


# ── results ──────────────────────────────────────────────────────────────────────────────────────


def _refuse_first_error(
    delivery: Delivery, results: Sequence[PartResult], limits: Limits
) -> list[StoredConversion]:
    """Raise the error of the first invalid part, or of the part that makes the delivery too big."""
    converted, total = [], UnpackedSize(limits)
    for part, result in zip(delivery.parts, results, strict=True):
        if isinstance(result, CostFileError):
            raise result
        total.add_file(part.bytes)
        total.add_content(part.name, result.unpacked_bytes)
        converted.append(result)
    return converted


def _merge(conversions: Sequence[StoredConversion]) -> StoredConversion:
    warnings, rows = ImportWarnings(), Counter[int]()
    for conversion in conversions:
        warnings.add(conversion.warnings)
        rows.update(conversion.rows)
    unreadable = [each.unreadable_file for each in conversions if each.unreadable_file is not None]
    delivered = [each.delivered for each in conversions if each.delivered is not None]
    return StoredConversion(
        month=next(iter(warnings.months), conversions[0].month),
        lines=sum(each.lines for each in conversions),
        warnings=warnings,
        rows=rows,
        unpacked_bytes=sum(each.unpacked_bytes for each in conversions),
        files=[file for each in conversions for file in each.files],
        stored=_add_up(each.stored for each in conversions),
        delivered=None if unreadable else _add_up(delivered),
        unreadable_file=unreadable[0] if unreadable else None,
    )


def _add_up(sums: Iterable[Sums]) -> Sums:
    return add_up_sums(chain.from_iterable(each.items() for each in sums))


def _remove_repeated_files(lake: Lake, conversion: StoredConversion) -> None:
    """Remove what tasks had written before their worker died."""
    names = {file["path"] for file in conversion.files}
    for folder in {str(PurePosixPath(name).parent) for name in names}:
        lake.remove([name for name in lake.list_names(folder) if name not in names])
