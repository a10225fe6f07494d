"""Projects: the units by which revenue and profit of billing groups are reported."""
