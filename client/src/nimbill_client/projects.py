"""Projects: groups of customers whose profit is computed together."""

from decimal import Decimal
from pathlib import Path

import msgspec

from nimbill_client.connection import Call, Connection
from nimbill_client.record import BilledVendor, Record, Success

PATH = "/m/core/project"
# One path: the identifier of a project to change, or a month to read.
PROJECT_PATH = "/m/core/project/{project_id_or_month}"


class ProjectRecord(Record, frozen=True, kw_only=True):
    project_id: str
    project_code: str
    project_label: str
    project_currency: str
    etag: str = ""  # the version, where it was asked for


class ProjectBody(Record, frozen=True, kw_only=True):
    project_code: str
    project_label: str
    project_currency: str


class ProjectCreated(Record, frozen=True, kw_only=True):
    project_id: str


class ProjectFigures(Record, frozen=True, kw_only=True):
    stock: Decimal
    sales: Decimal
    profit: Decimal
    profit_rate: Decimal | None
    stock_exchanged: Decimal
    sales_exchanged: Decimal
    profit_exchanged: Decimal
    profit_exchanged_rate: Decimal | None


class ProjectAmount(Record, frozen=True, kw_only=True):
    """`other_vendors` is empty if the organisation bills only AWS and Azure."""

    aws: ProjectFigures
    azure: ProjectFigures
    total: ProjectFigures
    other_vendors: dict[BilledVendor, ProjectFigures] = msgspec.field(default_factory=dict)


class ProjectProfit(Record, frozen=True, kw_only=True):
    project_id: str
    project_code: str
    project_label: str
    project_currency: str
    amount: ProjectAmount


class ExportData(Record, frozen=True, kw_only=True):
    data: str


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
