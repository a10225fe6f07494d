"""Requests that export files, and the content of the files."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.invoicing.exports import rfc4180
from tests.running_service import Service

GROUPS = "/m/core/exportcsv/billing-group"
SETTINGS = "/m/core/exportcsv/billing-group-setting"

BOM = "\ufeff".encode()

GROUP_HEADER = [
    "請求グループID",
    "請求グループ名",
    "企業名",
    "郵便番号",
    "住所",
    "電話番号",
    "宛名",
    "請求書タイトル",
    "コスト",
    "カスタムフィールド",
]
SETTING_HEADER = [
    "請求グループID",
    "請求グループ名",
    "ベンダー",
    "値引率",
    "消費税",
    "AWSサポート請求方法",
    "AWSサポート（一律%の場合）",
    "AWSサポート（固定）",
    "代行手数料請求方法",
    "代行手数料（％）",
    "代行手数料（固定）",
    "集計タイプ",
    "値引き対象",
    "請求代行サービス計算対象",
]


def request_export(
    service: Service, address: str, body: Any, headers: dict[str, str] | None = None
) -> httpx.Response:
    return service.http.post(address, json=body, headers=headers or service.root())


def create_link(
    service: Service,
    address: str = GROUPS,
    headers: dict[str, str] | None = None,
    *,
    redo: bool = False,
) -> str:
    """The address of the file, after the response was looked at."""
    response = request_export(service, address, {"redo": redo}, headers)
    assert response.status_code == 200, response.text
    result = response.json()
    assert set(result) == {"status", "path"}
    assert result["status"] == "success"
    path: str = result["path"]
    return path


def file_path(path: str) -> str:
    """The path of the file, which does not depend on the creator and time of the link."""
    return urlsplit(path).path


def download_file(service: Service, path: str) -> httpx.Response:
    """As a browser follows it: without a token."""
    return service.http.get(path)


def download_content(service: Service, path: str) -> bytes:
    response = download_file(service, path)
    assert response.status_code == 200, response.text
    return response.content


def parse_rows(file: bytes) -> list[list[str]]:
    """Every row, the header included, of a file that keeps to our rules."""
    assert file.startswith(BOM)
    assert not file.startswith(BOM + BOM)
    return rfc4180.parse(file.removeprefix(BOM).decode())


def export_rows(
    service: Service, address: str = GROUPS, headers: dict[str, str] | None = None
) -> list[list[str]]:
    """The rows of a new file, without the header."""
    return parse_rows(download_content(service, create_link(service, address, headers)))[1:]


def create_month_link(
    service: Service,
    what: str = "invoice_account",
    month: str = "2026-09",
    headers: dict[str, str] | None = None,
) -> str:
    """Export the file of a month, without a request body; return the link."""
    response = service.http.post(
        f"/m/core/export/csv/{what}/{month}", headers=headers or service.root()
    )
    assert response.status_code == 200, response.text
    result = response.json()
    assert set(result) == {"status", "url"}
    assert result["status"] == "success"
    url: str = result["url"]
    return url


def create_project_link(
    service: Service, month: str = "2026-09", headers: dict[str, str] | None = None
) -> str:
    response = service.http.get(f"/m/core/project/{month}/csv", headers=headers or service.root())
    assert response.status_code == 200, response.text
    result = response.json()
    assert set(result) == {"status", "data"}
    data: str = result["data"]
    return data
