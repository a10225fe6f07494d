"""The audit log: one entry for each change."""

from collections.abc import Iterator, Sequence

from nimbill_client.bodies import AuditEntry
from nimbill_client.connection import Call, Connection

ENTRIES_PER_PAGE = 1000  # the service chooses it


class Audit:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_entries(
        self,
        *,
        since: str | None = None,
        until: str | None = None,
        actor: str | None = None,
        resource: str | None = None,
        action: str | None = None,
        company_id: str | None = None,
        search: str | None = None,
        search_actions: Sequence[str] = (),
    ) -> Iterator[AuditEntry]:
        """The newest first. `since` and `until` are days (2026-09-30) or moments in ISO 8601.

        `search` looks in resource, actor, actor_name and action, and finds `search_actions` too.
        """
        filters = {
            "from": since,
            "to": until,
            "actor": actor,
            "resource": resource,
            "action": action,
            "company_id": company_id,
            "search": search,
            "search_actions": ",".join(search_actions) or None,
        }
        before = None
        while True:
            page = self._read_page({**filters, "before": before})
            yield from page
            if len(page) < ENTRIES_PER_PAGE:
                return
            before = page[-1].seq

    def _read_page(self, query: dict[str, str | int | None]) -> list[AuditEntry]:
        call = Call(method="GET", path="/m/core/audit", query=query)
        return self._connection.fetch(list[AuditEntry], call)
