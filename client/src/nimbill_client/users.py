"""Subusers and API clients."""

from nimbill_client.bodies import (
    ApiClientRecord,
    ConsoleSession,
    SecondFactor,
    Subuser,
    SubuserCreate,
    Success,
)
from nimbill_client.connection import Call, Connection

PATH = "/m/u/users"


class Users:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self) -> list[Subuser]:
        return self._connection.fetch(list[Subuser], Call(method="GET", path=PATH))

    def create(self, user: SubuserCreate, *, key: str | None = None) -> Subuser:
        call = Call(method="POST", path=PATH, body=user, key=key)
        return self._connection.fetch(Subuser, call)

    def delete(self, user_id: str, *, key: str | None = None) -> None:
        call = Call(method="DELETE", path="/m/u/users/{user_id}", ids={"user_id": user_id}, key=key)
        self._connection.fetch(Success, call)

    def change_password(
        self,
        user_id: str,
        password: str,
        *,
        old_password: str | None = None,
        key: str | None = None,
    ) -> None:
        """`old_password` is required for your own password."""
        old = {} if old_password is None else {"old_password": old_password}
        call = Call(
            method="PUT",
            path="/m/u/users/{user_id}/password",
            ids={"user_id": user_id},
            body={"password": password, **old},
            key=key,
        )
        self._connection.fetch(Success, call)

    def list_api_clients(self, user_id: str) -> list[ApiClientRecord]:
        call = Call(method="GET", path="/m/u/users/clients/{user}", ids={"user": user_id})
        return self._connection.fetch(list[ApiClientRecord], call)

    def create_api_client(
        self, user_id: str, name: str, *, key: str | None = None
    ) -> ApiClientRecord:
        """Create credentials for programs that act as this user."""
        path, ids = "/m/u/users/client/{user}", {"user": user_id}
        call = Call(method="POST", path=path, ids=ids, body={"name": name}, key=key)
        return self._connection.fetch(ApiClientRecord, call)

    def delete_api_client(self, user_id: str, client_id: str, *, key: str | None = None) -> None:
        path, ids = (
            "/m/u/users/client/{user}/{client_id}",
            {"user": user_id, "client_id": client_id},
        )
        self._connection.fetch(Success, Call(method="DELETE", path=path, ids=ids, key=key))

    def list_sessions(self, user_id: str) -> list[ConsoleSession]:
        """The browsers in which the user is signed in."""
        call = Call(method="GET", path="/m/u/users/{user_id}/sessions", ids={"user_id": user_id})
        return self._connection.fetch(list[ConsoleSession], call)

    def end_session(self, user_id: str, session_id: str, *, key: str | None = None) -> None:
        path = "/m/u/users/{user_id}/sessions/{session_id}"
        ids = {"user_id": user_id, "session_id": session_id}
        self._connection.fetch(Success, Call(method="DELETE", path=path, ids=ids, key=key))

    def list_second_factors(self, user_id: str) -> list[SecondFactor]:
        path, ids = "/m/u/users/{user_id}/second-factors", {"user_id": user_id}
        return self._connection.fetch(list[SecondFactor], Call(method="GET", path=path, ids=ids))

    def remove_second_factors(self, user_id: str, *, key: str | None = None) -> None:
        """For a user who lost the device, and who then needs the password alone."""
        path, ids = "/m/u/users/{user_id}/second-factors", {"user_id": user_id}
        self._connection.fetch(Success, Call(method="DELETE", path=path, ids=ids, key=key))
