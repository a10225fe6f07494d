"""The rule of the role that temporary credentials of agents belong to."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import Violation

basis = chosen("agent-session-credentials")

_ROLE_ARN = re.compile(r"arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[\w+=,.@/-]{1,512}", re.ASCII)


def find_role_violations(sent: Mapping[str, Any]) -> Iterator[Violation]:
    """Empty text clears the setting."""
    role_arn = sent.get("agent_role_arn")
    if isinstance(role_arn, str) and role_arn and _ROLE_ARN.fullmatch(role_arn) is None:
        yield Violation("agent_role_arn", "an ARN such as arn:aws:iam::123456789012:role/agents")
