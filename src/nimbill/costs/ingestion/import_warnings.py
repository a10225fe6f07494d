"""What an import reports about its lines without being stopped by it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class ImportWarnings:
    """Observations that are reported with the import and do not stop it."""

    months: Counter[str] = field(default_factory=Counter)
    other_vendors: Counter[str] = field(default_factory=Counter)
    rounded_lines: int = 0
    unreadable_tags: int = 0
    outside_month: int = 0
    has_invoice_ids: bool = False
    has_late_usage: bool = False  # lines of earlier months belong to the month, if it is named
    formats: set[str] = field(default_factory=set)

    def add(self, other: ImportWarnings) -> None:
        self.months += other.months
        self.other_vendors += other.other_vendors
        self.rounded_lines += other.rounded_lines
        self.unreadable_tags += other.unreadable_tags
        self.outside_month += other.outside_month
        self.has_invoice_ids |= other.has_invoice_ids
        self.has_late_usage |= other.has_late_usage
        self.formats |= other.formats
