"""GET /m/core/project/{month}/csv"""

from __future__ import annotations

from nimbill.closing.profit.project_csv import HEADER
from tests.customers.projects.projects import create_project
from tests.invoicing.exports.export_requests import (
    create_project_link,
    download_content,
    parse_rows,
)
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MonthEnd
from tests.subusers import create_subuser


def exported_projects(
    month_end: MonthEnd, headers: dict[str, str] | None = None
) -> list[list[str]]:
    link = create_project_link(month_end.service, headers=headers)
    header, *found = parse_rows(download_content(month_end.service, link))
    assert header == list(HEADER)
    return found


def test_without_projects_the_file_has_only_the_header(month_end: MonthEnd) -> None:
    assert exported_projects(month_end) == []


def test_a_project_has_a_row_for_each_vendor_and_a_total(month_end: MonthEnd) -> None:
    project_id = create_project(month_end.service, project_code="=P-1")
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A, project_id=project_id)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    month_end.create_invoices(group)

    project = ["'=P-1", "さくら移行", "jpy"]
    figures = ["1070.71", "1152.45", "81.74", "0.0709", "160874", "173156", "12282", "0.0709"]
    nothing = ["0.00", "0.00", "0.00", "", "0", "0", "0", ""]
    assert exported_projects(month_end) == [
        [*project, "aws", *figures],
        [*project, "azure", *nothing],
        [*project, "total", *figures],
    ]


def test_restricted_users_get_zero_for_projects_of_other_groups(month_end: MonthEnd) -> None:
    project_id = create_project(month_end.service, project_code="P-1")
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A, project_id=project_id)
    other = month_end.create_group("BG-B")
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    month_end.create_invoices(group)
    person = create_subuser(
        month_end.service, core=["ReadProject"], filters=[("core", "billingGroup", other)]
    )

    assert {row[5] for row in exported_projects(month_end, person.core)} == {"0.00"}
