"""How test files are given to several processes."""

from xdist.scheduler import LoadFileScheduling

# Their tests share a server, its data or a browser, which take as long as several tests to start.
ONE_PROCESS = ("tests/browser/console/", "tests/browser/portal/", "tests/webhooks/")
# What runs in the process of a folder whose server and browser it uses.
GUESTS = {"tests/browser/test_api_page.py": "tests/browser/portal/"}
# It starts a server of its own.
ANY_PROCESS = "tests/browser/console/test_sending_page.py"


class SharedFixtureScheduling(LoadFileScheduling):  # type: ignore[misc]  # without types
    """Runs the tests of a file in one process, and also those of a folder that shares much."""

    def _split_scope(self, nodeid: str) -> str:
        host = GUESTS.get(nodeid.partition("::")[0])
        if host:
            return host
        shared = () if nodeid.startswith(ANY_PROCESS) else ONE_PROCESS
        folder = next((name for name in shared if nodeid.startswith(name)), None)
        scope: str = folder or super()._split_scope(nodeid)
        return scope
