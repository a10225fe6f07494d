"""Four-eyes approval: requests, their review by a second person, and the operations they allow."""
