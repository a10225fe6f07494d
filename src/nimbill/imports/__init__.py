"""The act of taking a month of the vendors' costs in: once, as a whole, or not at all."""
