"""Bodies of the stack operations, row by row as specified."""

from typing import Any, ClassVar

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.http.request_bodies import Body, Success
from nimbill.legacy.stacks.stack_moves import StackStatus


class Stack(Body, frozen=True, kw_only=True):
    """As specified, and behind that why it failed, where it did."""

    basis: ClassVar[Basis] = stated("Legacy stack")
    reason_basis: ClassVar[Basis] = chosen("stack-reason")

    stack_id: str
    version_id: str
    stack_status: StackStatus
    configuration: dict[str, Any]
    nickname: str
    create_time: str
    user_id: str
    username: str
    auth_token: str
    reason: str | None


class StackLeaving(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("delete-stack")

    stack_status: StackStatus
    stack_id: str
