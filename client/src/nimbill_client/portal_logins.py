"""Portal logins, with which customers see their own invoices."""

from nimbill_client.bodies import (
    ResellerChanged,
    ResellerCreate,
    ResellerPassword,
    ResellerRecord,
    ResellerSession,
    Success,
)
from nimbill_client.connection import Call, Connection

PATH = "/m/core/reseller"


class PortalLogins:
    """The API calls a portal login a reseller account."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self) -> list[ResellerRecord]:
        return self._connection.fetch(list[ResellerRecord], Call(method="GET", path=PATH))

    def create(self, login: ResellerCreate, *, key: str | None = None) -> ResellerChanged:
        """Create a login; the result contains the password if the service chose it."""
        call = Call(method="POST", path=PATH, body=login, key=key)
        return self._connection.fetch(ResellerChanged, call)

    def delete(self, user_id: str, *, key: str | None = None) -> None:
        path = "/m/core/reseller/{user_id}"
        call = Call(method="DELETE", path=path, ids={"user_id": user_id}, key=key)
        self._connection.fetch(Success, call)

    def change_password(
        self, user_id: str, password: ResellerPassword, *, key: str | None = None
    ) -> ResellerChanged:
        path, ids = "/m/core/reseller/{user_id}/password", {"user_id": user_id}
        call = Call(method="PUT", path=path, ids=ids, body=password, key=key)
        return self._connection.fetch(ResellerChanged, call)

    def change_meta(self, user_id: str, meta: dict[str, bool], *, key: str | None = None) -> None:
        """Change what the login may see."""
        path, ids = "/m/core/reseller/{user_id}/meta", {"user_id": user_id}
        call = Call(method="PUT", path=path, ids=ids, body={"meta": meta}, key=key)
        self._connection.fetch(Success, call)

    def list_sessions(self, user_id: str) -> list[ResellerSession]:
        """The browsers in which the login is signed in, the last used one first."""
        call = Call(
            method="GET", path="/m/core/reseller/{user_id}/sessions", ids={"user_id": user_id}
        )
        return self._connection.fetch(list[ResellerSession], call)

    def end_session(self, user_id: str, session_id: str, *, key: str | None = None) -> None:
        path = "/m/core/reseller/{user_id}/sessions/{session_id}"
        ids = {"user_id": user_id, "session_id": session_id}
        self._connection.fetch(Success, Call(method="DELETE", path=path, ids=ids, key=key))

    def remove_second_factors(self, user_id: str, *, key: str | None = None) -> None:
        """For a customer who lost the device; the login then needs its password alone."""
        path, ids = "/m/core/reseller/{user_id}/second-factors", {"user_id": user_id}
        self._connection.fetch(Success, Call(method="DELETE", path=path, ids=ids, key=key))
