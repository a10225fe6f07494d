"""What tests of second factors share: an authenticator, an app, and a reader of QR codes."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from nimbill.identity.second_factors import totp
from tests.browser.console.conftest import Console
from tests.browser.windows import Windows, WindowType
from tests.proof.real_server import PASSWORD

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
}
AT_LOCALHOST = WindowType("ja", reduced_motion="reduce", host="localhost")
QR_READER = Path(__file__).parents[2] / "web" / "node_modules" / "jsqr" / "dist" / "jsQR.js"
# Runs in a page that has the reader.
READ_PICTURE = """async (picture) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
  return jsQR(data, width, height)?.data ?? "";
}"""


@contextmanager
def open_window(windows: Windows, url: str, root: str) -> Iterator[Console]:
    """Open a window with a virtual authenticator, in which nobody has signed in.

    Passkeys belong to host names, so the pages are opened at localhost.
    """
    with windows.open(AT_LOCALHOST) as recorded:
        devices = recorded.page.context.new_cdp_session(recorded.page)
        devices.send("WebAuthn.enable")
        devices.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        address = url.replace("127.0.0.1", "localhost")
        window = Console(recorded, address, root=root, expected_refusals={401})
        yield window
        window.check_no_errors()
        devices.send("WebAuthn.disable")
        devices.detach()


def enter_password(window: Console, organisation_id: str, username: str) -> None:
    page = window.page
    page.goto(f"{window.address}{window.root}/security")
    page.get_by_label("組織").fill(organisation_id)
    page.get_by_label("ユーザー名").fill(username)
    page.get_by_label("パスワード").fill(PASSWORD)
    page.keyboard.press("Enter")


def sign_out(page: Page, username: str) -> None:
    page.get_by_role("button", name=username).first.click()
    page.get_by_role("menuitem", name="サインアウト").first.click()
    expect(page.get_by_role("button", name="サインイン")).to_be_visible()


def expect_factors(page: Page, count: int) -> None:
    expect(page.get_by_role("heading", name=f"二要素認証 ({count})")).to_be_visible()


def add_passkey(window: Console, name: str) -> None:
    """Register a passkey on the page Security."""
    page = window.page
    page.get_by_role("button", name="パスキーを追加").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("現在のパスワード").fill(PASSWORD)
    dialog.get_by_role("button", name="続ける").click()
    dialog.get_by_label("名称").fill(name)
    window.check_accessibility()
    dialog.get_by_role("button", name="続ける").click()
    expect(page.get_by_role("row").filter(has_text=name)).to_be_visible()


class App:
    """An authenticator app that reads the QR code of a page."""

    def __init__(self, page: Page) -> None:
        self.address = read_qr_code(page)
        key = self.address.partition("secret=")[2].partition("&")[0]
        self._secret = base64.b32decode(key + "=" * (-len(key) % 8))
        self._step = int(time.time()) // totp.STEP_SECONDS - 1

    def next_code(self) -> str:
        """Return a code that was not used yet; the service accepts one step more or less."""
        self._step += 1
        return totp.compute_code(self._secret, self._step)


def read_qr_code(page: Page) -> str:
    """Read what a camera would see, with a reader of another author."""
    code = page.get_by_role("img", name="認証アプリ用のQRコード")
    expect(code).to_be_visible()
    picture = base64.b64encode(code.screenshot()).decode()
    reader = page.context.new_page()
    try:
        reader.add_script_tag(path=QR_READER)
        text: str = reader.evaluate(READ_PICTURE, picture)
    finally:
        reader.close()
    return text


def set_up_app(window: Console) -> App:
    """Register an app while signing in, because the organisation requires a factor."""
    page = window.page
    page.get_by_role("button", name="認証アプリを使う").click()
    app = App(page)
    assert app.address == page.get_by_text("otpauth://").inner_text().strip()
    page.get_by_role("textbox", name="コード").fill(app.next_code())
    window.check_accessibility()
    page.get_by_role("button", name="登録してサインイン").click()
    expect_factors(page, 1)
    return app


def prove_with_app(window: Console, app: App) -> None:
    window.page.get_by_role("textbox", name="コード").fill(app.next_code())
    window.page.get_by_role("button", name="コードで続ける").click()
    expect_factors(window.page, 1)


def prove_with_passkey(window: Console) -> None:
    window.page.get_by_role("button", name="パスキーで続ける").click()
    expect_factors(window.page, 1)
