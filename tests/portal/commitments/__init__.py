"""Tests of reservations and savings plans in the portal."""
