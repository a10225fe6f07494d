"""Signing in to the reseller's console and out of it."""

from __future__ import annotations

import httpx
from playwright.sync_api import expect

from tests.browser.console.conftest import Console
from tests.browser.console.sample_reseller import SampleReseller
from tests.browser.windows import Windows, WindowType
from tests.proof.real_server import PASSWORD

REFUSED = "401 (Unauthorized)"


def test_the_start_page_leads_to_sign_in_and_then_to_a_month(
    windows: Windows, reseller: SampleReseller
) -> None:
    with windows.open(WindowType("ja")) as recorded:
        page = recorded.page
        page.goto(reseller.server.url)
        page.get_by_label("組織").fill(reseller.organisation_id)
        page.get_by_label("ユーザー名").fill("root")
        page.get_by_label("パスワード").fill("wrong")
        page.get_by_role("button", name="サインイン").click()
        expect(
            page.get_by_text("組織、ユーザー名、パスワードのいずれかが正しくありません。")
        ).to_be_visible()
        Console(recorded, reseller.server.url).check_accessibility()

        page.get_by_label("パスワード").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("AWS")

        page.reload()
        expect(page.get_by_role("heading", level=1)).to_contain_text("AWS")
        page.get_by_role("button", name="root").click()
        page.get_by_role("menuitem", name="サインアウト").click()
        expect(page.get_by_role("button", name="サインイン")).to_be_visible()
        page.reload()
        expect(page.get_by_role("button", name="サインイン")).to_be_visible()

        assert [error for error in recorded.errors if REFUSED not in error] == []
        assert recorded.violations() == []


def test_language_and_colours_can_be_switched(console: Console) -> None:
    console.open("/")
    console.page.get_by_role("button", name="English").click()
    expect(console.page.get_by_role("heading", name="Steps")).to_be_visible()
    expect(console.page.locator("html")).to_have_attribute("lang", "en")
    console.page.get_by_role("button", name="Dark").click()
    expect(console.page.locator("body")).to_have_class("awsui-dark-mode")
    console.check_accessibility()

    console.page.reload()
    expect(console.page.get_by_role("heading", name="Steps")).to_be_visible()
    expect(console.page.locator("body")).to_have_class("awsui-dark-mode")


def test_files_are_compressed_and_may_be_kept(reseller: SampleReseller) -> None:
    """The first load weighs less than 700 kB."""
    with httpx.Client(base_url=reseller.server.url, timeout=60) as http:
        page = http.get("/console/months/2026-09/aws")
        names = set(page.text.split('"')) & {
            part for part in page.text.split('"') if part.startswith("/web/assets/")
        }
        assert page.headers["Cache-Control"] == "no-cache"
        assert "style-src 'self'" in page.headers["Content-Security-Policy"]
        sizes = []
        for name in names:
            with http.stream("GET", name, headers={"Accept-Encoding": "gzip"}) as response:
                assert "immutable" in response.headers["Cache-Control"]
                sizes.append(len(b"".join(response.iter_raw())))
                if not name.endswith(".svg"):
                    assert response.headers["Content-Encoding"] == "gzip"
        assert 100_000 < sum(sizes) < 600_000
        assert http.get("/web/assets/none.js").status_code == 404
        assert http.get("/web/assets/..%2f..%2fconsole.html").status_code == 404
