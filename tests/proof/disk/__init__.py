"""A file system that loses what was not synced, or fails at a chosen call."""
