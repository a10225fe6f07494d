"""GET /m/portal/usage/report"""

from __future__ import annotations

from typing import Any

from tests.invoicing.exports.export_requests import parse_rows
from tests.invoicing.month_end import MONTH
from tests.portal.portal_scene import FIRST, SECOND, PortalScene
from tests.problem_responses import read_violations


def download(scene: PortalScene, query: str, headers: Any = None) -> list[list[str]]:
    response = scene.request("GET", f"/usage/report?{query}", None, headers)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/csv")
    assert response.content.startswith("\ufeff".encode())
    return parse_rows(response.content)


def test_the_report_by_account_has_the_unrounded_amounts_of_the_page(scene: PortalScene) -> None:
    page = scene.customer.get("/usage/account", month=MONTH)["rows"]

    header, *rows = download(scene, f"month={MONTH}")

    assert header == [
        "Month",
        "Vendor",
        "CustomerID",
        "CustomerName",
        "Service",
        "Marketplace",
        "Currency",
        "Amount",
        "Provisional",
        "Unpriced",
    ]
    assert rows == [
        [
            MONTH,
            "aws",
            row["customer_id"],
            row["customer_name"],
            row["service"],
            "false",
            "JPY",
            f"{row['amount']:f}",
            "false",
            "",
        ]
        for row in page
    ]
    assert any("." in row[7] for row in rows)


def test_the_report_by_group_has_the_rows_of_the_page(scene: PortalScene) -> None:
    body = {"name": "=web", "customer_ids": [SECOND]}
    group_id = scene.request("POST", "/groups", body).json()["group_id"]
    page = scene.customer.get("/usage/group", month=MONTH)["rows"]

    header, *rows = download(scene, f"by=group&month={MONTH}")
    scene.request("DELETE", f"/groups/{group_id}")

    assert header[2:4] == ["GroupID", "GroupName"]
    assert [row[7] for row in rows] == [f"{row['amount']:f}" for row in page]
    names = {tuple(row[2:4]) for row in rows}
    assert names == {("", ""), (group_id, "'=web")}  # a spreadsheet does not run it


def test_a_restricted_user_downloads_its_accounts(scene: PortalScene) -> None:
    _, *rows = download(scene, f"month={MONTH}", scene.clerk)

    assert {row[2] for row in rows} == {SECOND}
    assert FIRST not in str(rows)


def test_the_file_is_named_after_its_period(scene: PortalScene) -> None:
    one = scene.request("GET", f"/usage/report?month={MONTH}")
    several = scene.request("GET", f"/usage/report?by=group&from=2026-08&to={MONTH}")

    names = [response.headers["content-disposition"] for response in (one, several)]
    assert names == [
        'attachment; filename="usage-account-2026-09.csv"',
        'attachment; filename="usage-group-2026-08-2026-09.csv"',
    ]


def test_an_unknown_division_is_refused(scene: PortalScene) -> None:
    response = scene.request("GET", f"/usage/report?by=service&month={MONTH}")

    assert [field for field, _ in read_violations(response)] == ["by"]


def test_the_headings_are_in_the_chosen_language(scene: PortalScene) -> None:
    plain = download(scene, f"month={MONTH}")

    japanese = download(scene, f"month={MONTH}&language=ja")

    assert download(scene, f"month={MONTH}&language=en") == plain
    assert japanese[0][:4] == ["対象月", "ベンダー", "アカウントID", "アカウント名"]
    assert japanese[1:] == plain[1:]
