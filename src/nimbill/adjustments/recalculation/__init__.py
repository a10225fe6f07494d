"""Recalculation entries: one-off charges and credits that are billed only when applied."""
