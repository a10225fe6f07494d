"""How long each web page of a running demo takes until it is complete.

    python -m tests.browser.page_times --demo FOLDER --port 8080

The clock starts when the browser begins to load the page, and stops when its heading is there and
nothing is shown as loading any more. Files of the console come from the browser's cache, as on
every visit but the first. Prints the median of some visits, slowest page first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page

from tests.browser.chromium import LOADING, start_chromium
from tests.browser.pictured_pages import CONSOLES, PicturedConsole
from tests.browser.screenshots import PORT, SIZES, Demo, find_demo, find_path, sign_in

VISITS = 5
# The time at which the page was complete, once it has stayed so for a moment.
COMPLETE = """loading => {
  const shown = [...document.querySelectorAll(loading)].some(it => it.checkVisibility());
  if (shown || !document.querySelector('h1')) { window.completeSince = undefined; return false; }
  window.completeSince ??= performance.now();
  return performance.now() - window.completeSince > 200 && window.completeSince;
}"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--demo", type=Path, required=True, help="folder of a running demo")
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--visits", type=int, default=VISITS)
    chosen = parser.parse_args(arguments)
    with find_demo(chosen.demo, chosen.port) as demo, start_chromium() as browser:
        times = {
            name: seconds
            for console in CONSOLES
            for name, seconds in measure_console(browser, demo, console, chosen.visits)
        }
    for name, seconds in sorted(times.items(), key=lambda item: -item[1]):
        print(f"{seconds:6.2f} s  {name}")
    print(f"{median(times.values()):6.2f} s  median of {len(times)} pages")


def measure_console(
    browser: Browser, demo: Demo, console: PicturedConsole, visits: int
) -> Iterator[tuple[str, float]]:
    """The name of each page, and the median of its visits after the first."""
    context = browser.new_context(viewport=SIZES["wide"], locale="ja")
    page = context.new_page()
    sign_in(page, demo, console)
    for name, path in console.pages.items():
        address = f"{demo.address}{console.root}{find_path(page, demo, console.root, path)}"
        times = [visit(page, address) for _ in range(visits + 1)]
        yield name, median(times[1:])
    context.close()


def visit(page: Page, address: str) -> float:
    page.goto(address, wait_until="commit")
    milliseconds = page.wait_for_function(COMPLETE, arg=LOADING).json_value()
    return float(milliseconds) / 1000


if __name__ == "__main__":
    main()
