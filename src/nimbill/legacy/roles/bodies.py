"""Bodies of the role operations of version 3, in the order of the specification."""

from typing import Annotated, ClassVar

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.http.request_bodies import NOT_EMPTY, Body, Success, text_length


class LegacyRoleWrite(Body, frozen=True, kw_only=True):
    """For creation and update; `scope` is a role scope document as JSON text."""

    basis: ClassVar[Basis] = stated("Legacy lifecycle API")
    name_basis: ClassVar[Basis] = chosen("legacy-role-names")

    name: Annotated[str, text_length(1, 100)]
    scope: Annotated[str, NOT_EMPTY]


class LegacyRoleWritten(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    role_id: str


class LegacyRole(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy role records")

    role_id: str
    user_id: str
    name: str
    scope: str
    create_time: str
    update_time: str


class LegacyUserRole(Body, frozen=True, kw_only=True):
    """`user` is the user's id and username, separated by a colon."""

    basis: ClassVar[Basis] = stated("Legacy role records")
    user_basis: ClassVar[Basis] = chosen("user-role-user-field")

    user_role_id: str
    role_id: str
    user: str
    scope: str
    create_time: str
    update_time: str


class LegacyRoleAttach(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    username: Annotated[str, NOT_EMPTY]
    role_id: Annotated[str, NOT_EMPTY]


class LegacyRoleAttached(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    user_role_id: str


class LegacyRoleHolder(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy lifecycle API")

    username: Annotated[str, NOT_EMPTY]


class LegacyRoleDetach(Body, frozen=True, kw_only=True):
    """The username may be in the query instead."""

    basis: ClassVar[Basis] = chosen("detach-role")

    username: str | None = None


class LegacyRoleTemplate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Legacy role records")

    id: str
    name: str
    scope: str
