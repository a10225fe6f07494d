"""Tests; folders mirror src/nimbill, and contract/, house/, browser/ and proof/ keep the rest."""
