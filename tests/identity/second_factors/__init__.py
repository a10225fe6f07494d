"""Tests of second factors of sign-in, one file per step."""
