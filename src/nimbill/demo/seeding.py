"""Creates the seed data through the HTTP API, step by step."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nimbill.demo.api_client import DemoClient, DemoError
from nimbill.demo.logins import DemoLogins, save_logins
from nimbill.demo.monthly_data import MONTHS_MAX, MONTHS_MIN, last_months
from nimbill.demo.resellers import RESELLERS, DemoReseller
from nimbill.demo.seed_steps import SeedSteps, build_seed_plan

PrintLine = Callable[[str], None]


class DataSeeding:
    """Runs the steps that are not completed yet and records each completed step."""

    def __init__(
        self, address: str, logins: DemoLogins, folder: Path, months: Sequence[str]
    ) -> None:
        self.clients = {
            reseller.username: DemoClient(address, logins[reseller.english_name], folder)
            for reseller in RESELLERS
        }
        refuse_other_seed_data(logins)
        self._logins, self._folder, self._months = logins, folder, months
        self._started = time.monotonic()

    def seed_recent_months(self, print_line: PrintLine) -> None:
        """Creates the master data and the recent months; prints each step."""
        for phase in range(2):
            self._run_phase(phase, print_line)

    def seed_earlier_months(self) -> bool:
        """Returns whether any step was left."""
        return self._run_phase(2, lambda _: None)

    def has_steps_left(self) -> bool:
        return any(self._remaining_steps(reseller, phase=2) for reseller in RESELLERS)

    def _run_phase(self, phase: int, print_line: PrintLine) -> bool:
        remaining = [(reseller, self._remaining_steps(reseller, phase)) for reseller in RESELLERS]
        for reseller, steps in remaining:
            client = self.clients[reseller.username]
            for name, step in steps.items():
                seconds = time.monotonic() - self._started
                print_line(f"  {seconds:4.0f} s  {reseller.english_name}: {name}")
                with client.explain_errors():
                    step(client, reseller)
                client.login.completed_steps.append(name)
                save_logins(self._folder, self._logins)
        return any(steps for _, steps in remaining)

    def _remaining_steps(self, reseller: DemoReseller, phase: int) -> SeedSteps:
        completed = self.clients[reseller.username].login.completed_steps
        steps = build_seed_plan(reseller, self._months)[phase]
        return {name: step for name, step in steps.items() if name not in completed}


def refuse_other_seed_data(logins: DemoLogins) -> None:
    """Refuses data of a demo with other steps, because its customers and costs may differ."""
    for reseller in RESELLERS:
        completed = set(logins[reseller.english_name].completed_steps)
        if not completed <= set(_list_step_names(reseller)):
            raise DemoError(
                "The demo's data folder was created by a different version of the demo. Remove it "
                "to start again, or name another folder with NIMBILL_DATA."
            )


def _list_step_names(reseller: DemoReseller) -> Iterator[str]:
    """The names of the steps for any number of months."""
    for count in range(MONTHS_MIN, MONTHS_MAX + 1):
        for steps in build_seed_plan(reseller, last_months(count)):
            yield from steps
