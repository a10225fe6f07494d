"""Roles over HTTP; paths are relative to the address of the legacy API."""

from typing import Any

ROUTES: list[Any] = []
