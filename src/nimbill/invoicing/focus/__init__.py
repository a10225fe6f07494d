"""FOCUS files of a month: what vendors charged, or what customers were billed."""
