"""Signed-in pages of the reseller's console."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.browser.chromium import RecordedPage
from tests.browser.console.sample_reseller import SampleReseller, create_reseller
from tests.browser.windows import TIMEOUT_MILLISECONDS, Windows, WindowType
from tests.proof.real_server import PASSWORD, RealServer

REFUSED = "Failed to load resource: the server responded with a status of"
expect.set_options(timeout=TIMEOUT_MILLISECONDS)
AxeRules = Mapping[str, Mapping[str, bool]]
ALL_RULES: AxeRules = {}
ALL_BUT_COLOURS: AxeRules = {"color-contrast": {"enabled": False}}
WIDTH = 1440
HEIGHT = 900
# The page looks for a session. Frames with a PDF have no storage.
HAS_SESSION = "window.localStorage?.setItem('nimbill-session-core', 'open');"
LANGUAGE_BUTTONS = {"ja": "日本語", "en": "English"}
# Checks an open dialog with all rules, otherwise the page. One call finds the dialog and checks it:
# a dialog that is closing may be gone before a second call. Selectors of the elements found would
# take a fifth of the time.
FIND_VIOLATIONS = """async ([allRules, pageRules]) => {
  const dialogs = [...document.querySelectorAll("[role=dialog]")];
  const dialog = dialogs.find((element) => element.checkVisibility());
  const { violations } = await axe.run(dialog ?? document, {
    resultTypes: ["violations"], selectors: false, rules: dialog ? allRules : pageRules,
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}"""
# Tables that have to be scrolled sideways, by their headings.
FIND_CUT_TABLES = """() => [...document.querySelectorAll("main table")]
  .filter((table) => table.parentElement.scrollWidth > table.parentElement.clientWidth + 1)
  .map((table) => table.tHead?.innerText ?? "")"""
# Goes to the next entry of the history, which the page's router numbers, and tells the router.
FOLLOW_LINK = """address => {
  const state = { idx: (history.state?.idx ?? 0) + 1 };
  history.pushState(state, "", address);
  dispatchEvent(new PopStateEvent("popstate", { state }));
}"""
NO_PAGE = re.compile(
    "There is no page at this address|このアドレスにページはありません"
    "|This page is not available|このページは利用できません"
)
# Spinners turn without end.
END_ANIMATIONS = """() => {
  for (const animation of document.getAnimations())
    if (animation.effect.getComputedTiming().endTime !== Infinity) animation.finish();
}"""


@dataclass(frozen=True)
class Console:
    """A browser window in which a person has signed in."""

    recorded: RecordedPage
    address: str
    root: str = "/console"
    expected_refusals: set[int] = field(default_factory=set)  # statuses

    @property
    def page(self) -> Page:
        return self.recorded.page

    def open(self, path: str) -> None:
        """Open a page and wait until it shows its heading."""
        self.page.goto(f"{self.address}{self.root}{path}")
        self.page.get_by_role("heading", level=1).first.wait_for()

    def visit(self, path: str) -> None:
        """Show another page as a link would, in a third of the time that opening it takes.

        The text in between is how to tell that the new page has come.
        """
        no_page = self.page.get_by_text(NO_PAGE)
        self.page.evaluate(FOLLOW_LINK, f"{self.root}/no-such-page")
        expect(no_page).to_be_visible()
        self.page.evaluate(FOLLOW_LINK, f"{self.root}{path}")
        expect(no_page).to_have_count(0)
        self.page.get_by_role("heading", level=1).first.wait_for()

    def check_accessibility(self, rules: AxeRules = ALL_BUT_COLOURS) -> None:
        """Fail on findings of axe: in an open dialog, with all rules, or on the page.

        The colours of pages take as long to check as everything else three times over. The tests
        that visit every page do it; what they do not see is in dialogs.
        """
        self.page.evaluate(END_ANIMATIONS)  # a text that still fades in has too little contrast
        if self.page.evaluate("typeof axe === 'undefined'"):
            self.page.evaluate(AXE_SCRIPT)
        violations = self.page.evaluate(FIND_VIOLATIONS, [ALL_RULES, rules])
        if violations:
            pytest.fail("\n".join(violations))

    def check_in_both_languages(self, rules: AxeRules = ALL_BUT_COLOURS) -> None:
        """Check the accessibility, and then show the page in the other language, without loading.

        The languages differ in texts only, so that one check is enough. Where several pages are
        checked, they are checked in either language by turns.
        """
        self.check_accessibility(rules)
        self.switch_language()

    def check_tables_fit(self) -> None:
        """Fail on a table whose last columns are cut. It settles after the page did."""
        self.page.wait_for_function(f"() => ({FIND_CUT_TABLES})().length === 0")

    def switch_language(self) -> None:
        """Use the button in the top bar, whose text is the name of the other language."""
        html = self.page.locator("html")
        language = "en" if html.get_attribute("lang") == "ja" else "ja"
        self.page.get_by_role("button", name=LANGUAGE_BUTTONS[language]).first.click()
        expect(html).to_have_attribute("lang", language)

    def check_no_errors(self) -> None:
        """Fail on errors of the page, violations of its policy, and requests to other servers.

        The browser logs refused requests too: those that a flow causes on purpose are expected.
        """
        refused = tuple(f"{REFUSED} {status} " for status in self.expected_refusals)
        assert [error for error in self.recorded.errors if not error.startswith(refused)] == []
        assert self.recorded.violations() == []
        assert self.recorded.origins <= {self.address}


@pytest.fixture(scope="session")
def reseller(console_server: RealServer) -> SampleReseller:
    """Data that tests read, and to which they add; tests that close months create their own."""
    return create_reseller(console_server, "Aozora")


OpenConsole = Callable[..., Console]


@pytest.fixture
def open_console(windows: Windows) -> Iterator[OpenConsole]:
    """Open windows of several people; they are checked for errors at the end of the test."""
    with ExitStack() as stack:

        def open_window(
            reseller: SampleReseller,
            *,
            username: str = "root",
            password: str = PASSWORD,
            language: str = "ja",
        ) -> Console:
            window = sign_in(windows, reseller, username, password, language)
            return stack.enter_context(window)

        yield open_window


@pytest.fixture
def console(open_console: OpenConsole, reseller: SampleReseller) -> Console:
    """The root user in Japanese."""
    return open_console(reseller)


@contextmanager
def sign_in(
    windows: Windows, reseller: SampleReseller, username: str, password: str, language: str
) -> Iterator[Console]:
    """Sign in through the API; the page finds the session of its cookie."""
    window_type = WindowType(language, "Asia/Tokyo", "reduce", script=HAS_SESSION)
    with windows.open(window_type, width=WIDTH, height=HEIGHT) as recorded:
        response = recorded.page.context.request.post(
            f"{reseller.server.url}/core/session",
            data={
                "organisation": reseller.organisation_id,
                "username": username,
                "password": password,
            },
        )
        assert response.ok, response.text()
        console = Console(recorded, reseller.server.url)
        yield console
        console.check_no_errors()
