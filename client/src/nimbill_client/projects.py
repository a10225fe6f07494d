"""Projects: groups of customers whose profit is computed together."""

from pathlib import Path

from nimbill_client.bodies import (
    ExportData,
    ProjectBody,
    ProjectCreated,
    ProjectProfit,
    ProjectRecord,
    Success,
)
from nimbill_client.connection import Call, Connection

PATH = "/m/core/project"
# One path: the identifier of a project to change, or a month to read.
PROJECT_PATH = "/m/core/project/{project_id_or_month}"


class Projects:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self) -> list[ProjectRecord]:
        return self._connection.fetch(list[ProjectRecord], Call(method="GET", path=PATH))

    def create(self, project: ProjectBody, *, key: str | None = None) -> ProjectCreated:
        call = Call(method="POST", path=PATH, body=project, key=key)
        return self._connection.fetch(ProjectCreated, call)

    def update(self, project_id: str, project: ProjectBody, *, key: str | None = None) -> None:
        ids = {"project_id_or_month": project_id}
        call = Call(method="POST", path=PROJECT_PATH, ids=ids, body=project, key=key)
        self._connection.fetch(Success, call)

    def delete(self, project_id: str, *, key: str | None = None) -> None:
        ids = {"project_id_or_month": project_id}
        call = Call(method="DELETE", path=PROJECT_PATH, ids=ids, key=key)
        self._connection.fetch(Success, call)

    def read_profit(self, month: str) -> list[ProjectProfit]:
        """Read cost, sales and profit of each project in a month."""
        call = Call(method="GET", path=PROJECT_PATH, ids={"project_id_or_month": month})
        return self._connection.fetch(list[ProjectProfit], call)

    def export_csv(self, month: str, file: Path) -> Path:
        call = Call(method="GET", path="/m/core/project/{month}/csv", ids={"month": month})
        return self._connection.download_link(self._connection.fetch(ExportData, call).data, file)
