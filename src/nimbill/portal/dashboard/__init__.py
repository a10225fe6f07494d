"""The first page of the portal: totals, comparison, largest costs, forecast and warnings."""
