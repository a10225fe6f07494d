"""The vendors' formats, one file each: which column means what, and which line type is what."""
