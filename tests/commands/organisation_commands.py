"""Runs commands for the organisation of a running service."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import Any

from tests.commands.run_command import run_command, service_environment
from tests.running_service import Service


@dataclass(frozen=True)
class OrganisationCommands:
    service: Service

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        organisation = self.service.organisation.organisation_id
        return run_command(
            *arguments, "--organisation", organisation, env=service_environment(self.service)
        )

    def succeed(self, *arguments: str) -> str:
        """Return the text output of a command that must succeed."""
        result = self.run(*arguments)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def load(self, *arguments: str) -> Any:
        """Return the JSON output of a command that must succeed."""
        return json.loads(self.succeed(*arguments, "--json"))

    def refuse(self, *arguments: str) -> str:
        """Return the error of a command that must be refused."""
        result = self.run(*arguments)
        assert (result.returncode, result.stdout) == (2, ""), result
        return result.stderr

    def list_audit_rows(self) -> list[dict[str, Any]]:
        """List the rows of this organisation, newest first."""
        rows: list[dict[str, Any]] = self.service.http.get(
            "/m/core/audit", headers=self.service.root()
        ).json()
        return rows
