"""What the client sends and returns: exact numbers, pages, files and waiting."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from nimbill_client import Band, Forbidden, OrganisationSettingsChange, WaitTimeout
from nimbill_client.pages import RECORDS_PER_PAGE
from tests.nimbill_client.prepared_service import PreparedService, problem

SUCCESS = httpx.Response(200, json={"status": "success"})
DIGITS = "1234567890123456789.123456789012345678"


def test_numbers_are_exact_in_both_directions() -> None:
    answer = f'{{"usage_table": [{{"upto": {DIGITS}, "rate": 0.1}}, {{"upto": null, "rate": 1}}]}}'
    service = PreparedService(answers=[httpx.Response(200, text=answer)])
    change = OrganisationSettingsChange(usage_table=[Band(upto=Decimal(DIGITS), rate=Decimal(1))])

    settings = service.client().settings.change(change)

    assert service.requests[0].content.decode() == (
        f'{{"usage_table":[{{"upto":{DIGITS},"rate":1}}]}}'
    )
    assert settings.usage_table == [
        Band(upto=Decimal(DIGITS), rate=Decimal("0.1")),
        Band(upto=None, rate=Decimal(1)),
    ]


def test_numbers_without_a_declared_type_are_exact_too() -> None:
    entry = f"""{{"seq": 1, "hash": "", "at": "", "actor": "", "actor_name": "", "client_id": null,
        "action": "", "resource": "", "company_id": null, "request_id": "", "sent": {DIGITS}}}"""
    service = PreparedService(answers=[httpx.Response(200, text=f"[{entry}]")])

    (listed,) = service.client().audit.list_entries()

    assert listed.sent == Decimal(DIGITS)


def test_a_list_is_read_page_by_page_as_it_is_used() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        offset = int(request.url.params["offset"])
        numbers = range(offset, min(offset + RECORDS_PER_PAGE, RECORDS_PER_PAGE + 2))
        return httpx.Response(200, json=[account(str(number)) for number in numbers])

    service = PreparedService(answers=[answer, answer])
    listed = service.client().accounts.list_all("aws")

    first = next(listed)
    requests_for_the_first = len(service.requests)
    rest = list(listed)

    assert requests_for_the_first == 1
    assert [first.customer_id, rest[-1].customer_id] == ["0", str(RECORDS_PER_PAGE + 1)]
    assert len(service.requests) == 2


def account(number: str) -> dict[str, object]:
    texts = ("customer_name", "account_id", "company_id", "billinggroup_id", "billinggroup_name")
    nothing = ("note", "project_id", "service_discount")
    fields = {**dict.fromkeys(texts, ""), **dict.fromkeys(nothing)}
    return {"customer_id": number, "vendor": "aws", "payer": False, **fields}


def test_ids_cannot_change_the_path() -> None:
    service = PreparedService(answers=[SUCCESS, SUCCESS])
    client = service.client()

    client.billing_groups.delete("../project/1?x=1")
    client.accounts.delete("aws", "111", "222")

    paths = [request.url.raw_path.decode() for request in service.requests]
    assert paths == ["/m/core/billinggroup/..%2Fproject%2F1%3Fx%3D1", "/m/core/accts/aws/111%7C222"]


def test_files_are_uploaded_again_after_a_broken_connection(tmp_path: Path) -> None:
    (tmp_path / "bill.csv").write_text("a,b\n")
    started = httpx.Response(202, json={"import_id": "imp-1"})
    service = PreparedService(answers=[httpx.WriteError("reset"), started])

    service.client().imports.upload("aws", [tmp_path / "bill.csv"], "2026-09")

    for request in service.requests:
        assert b'name="month"\r\n\r\n2026-09' in request.content
        assert b'filename="bill.csv"' in request.content
        assert b"a,b\n" in request.content


def test_a_download_is_written_to_a_file(tmp_path: Path) -> None:
    service = PreparedService(answers=[httpx.Response(200, content=b"%PDF-1.7")])

    file = service.client().invoices.download_pdf("2026-09", "com", "aws", tmp_path / "a.pdf")

    assert file.read_bytes() == b"%PDF-1.7"
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdf"]


def test_a_download_that_is_refused_or_broken_leaves_no_file(tmp_path: Path) -> None:
    class Broken(httpx.SyncByteStream):
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield b"%PDF"
            raise httpx.ReadError("reset")

    broken = httpx.Response(200, stream=Broken())
    service = PreparedService(answers=[broken, problem(403, "forbidden")])

    with pytest.raises(Forbidden):
        service.client().invoices.download_pdf("2026-09", "com", "aws", tmp_path / "a.pdf")

    assert list(tmp_path.iterdir()) == []


def test_the_token_is_not_sent_to_a_download_link(tmp_path: Path) -> None:
    link = "https://files.example.com/d/exp-1?signature=abc"
    exported = httpx.Response(200, json={"url": link})
    service = PreparedService(answers=[exported, httpx.Response(200, content=b"a,b\n")])

    service.client().invoices.export_accounts_csv("2026-09", tmp_path / "a.csv")

    assert str(service.requests[1].url) == link
    assert "Authorization" not in service.requests[1].headers
    assert (tmp_path / "a.csv").read_bytes() == b"a,b\n"


def test_an_error_does_not_show_the_signature_of_a_link(tmp_path: Path) -> None:
    exported = httpx.Response(200, json={"url": "https://files.example.com/d/e?signature=abc"})
    service = PreparedService(answers=[exported, problem(403, "link_expired")])

    with pytest.raises(Forbidden) as caught:
        service.client().invoices.export_accounts_csv("2026-09", tmp_path / "a.csv")

    assert "abc" not in str(caught.value)


def import_in(state: str) -> httpx.Response:
    nothing = ("month", "provisional", "assembly", "identical_import", "problem", "parked_reason")
    fields: dict[str, object] = dict.fromkeys([*nothing, "release_reason"])
    lists = ("sources", "totals", "accounts_in_no_group", "differences", "drift", "proposals")
    objects = ("progress", "unknown_types", "currencies", "noticed")
    fields |= {name: [] for name in (*lists, "warnings")} | {name: {} for name in objects}
    fields |= {"import_id": "imp-1", "vendor": "aws", "state": state, "lines": 0, "percent": 0}
    return httpx.Response(200, json={**fields, "create_time": "", "update_time": ""})


def test_waiting_for_an_import_returns_its_final_state() -> None:
    service = PreparedService(
        answers=[import_in(state) for state in ("waiting", "running", "parked")]
    )

    record = service.client().imports.wait("imp-1")

    assert (record.state, record.counts) == ("parked", False)


def test_waiting_for_an_import_ends() -> None:
    service = PreparedService(answers=[import_in("running")] * 1000)

    with pytest.raises(WaitTimeout, match="imp-1 is not finished after 30 seconds"):
        service.client().imports.wait("imp-1", seconds_max=30)

    assert sum(service.pauses) <= 30
