"""Tells the story to the service over its own HTTP API, as any client would."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nimbill.demo.accounts import Accounts, remember
from nimbill.demo.calling import DemoClient, DemoError
from nimbill.demo.chapters import Chapters, chapters_of
from nimbill.demo.story import RESELLERS, Reseller
from nimbill.demo.story_months import MONTHS_MAX, MONTHS_MIN, last_months

Say = Callable[[str], None]


class Telling:
    """Every chapter not told yet, remembered one by one."""

    def __init__(
        self, address: str, accounts: Accounts, folder: Path, months: Sequence[str]
    ) -> None:
        self.callers = {
            reseller.username: DemoClient(address, accounts[reseller.english_name], folder)
            for reseller in RESELLERS
        }
        refuse_another_story(accounts)
        self._accounts, self._folder, self._months = accounts, folder, months
        self._begun = time.monotonic()

    def tell_last_months(self, say: Say) -> None:
        """From the beginning; says which chapter it is at."""
        for part in range(2):
            self._tell(part, say)

    def tell_months_before(self) -> bool:
        """Whether there was anything to tell."""
        return self._tell(2, lambda _: None)

    def anything_left(self) -> bool:
        return any(self._untold(reseller, part=2) for reseller in RESELLERS)

    def _tell(self, part: int, say: Say) -> bool:
        untold = [(one, self._untold(one, part)) for one in RESELLERS]
        for reseller, chapters in untold:
            caller = self.callers[reseller.username]
            for name, chapter in chapters.items():
                seconds = time.monotonic() - self._begun
                say(f"  {seconds:4.0f} s  {reseller.english_name}: {name}")
                chapter(caller, reseller)
                caller.account.told.append(name)
                remember(self._folder, self._accounts)
        return any(chapters for _, chapters in untold)

    def _untold(self, reseller: Reseller, part: int) -> Chapters:
        told = self.callers[reseller.username].account.told
        chapters = chapters_of(reseller, self._months)[part]
        return {name: chapter for name, chapter in chapters.items() if name not in told}


def refuse_another_story(accounts: Accounts) -> None:
    """Its customers and costs were others; what was told of them cannot be gone on with."""
    for reseller in RESELLERS:
        if not set(accounts[reseller.english_name].told) <= set(_names(reseller)):
            raise DemoError(
                "the demo's data folder is of a demo that told another story; remove it to start "
                "afresh, or name another folder with NIMBILL_DATA"
            )


def _names(reseller: Reseller) -> Iterator[str]:
    """Of all chapters, with however many months."""
    for count in range(MONTHS_MIN, MONTHS_MAX + 1):
        for part in chapters_of(reseller, last_months(count)):
            yield from part
