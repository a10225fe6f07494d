"""The end of a month: its steps, checks, tie-out, overview, profit and search."""
