"""Customer accounts at the cloud vendors, and whose they are."""
