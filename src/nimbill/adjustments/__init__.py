"""adjustments."""
