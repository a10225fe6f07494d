"""Deployments over HTTP; paths are relative to /m/core."""

from typing import Any

ROUTES: list[Any] = []
