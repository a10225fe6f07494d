"""Tests of the anomalies."""
