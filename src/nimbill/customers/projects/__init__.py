"""Projects: what billing groups are counted under."""
