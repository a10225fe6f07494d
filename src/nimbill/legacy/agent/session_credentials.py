"""Temporary credentials for the agent of a stack, from the token service of AWS.

They are returned to the agent and kept nowhere: neither stored nor logged.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.foundation.encryption import Encryptor
from nimbill.foundation.errors import Conflict, NotFound, NotPermitted
from nimbill.foundation.extras import describe_missing_extra
from nimbill.legacy.agent.agent_stack import find_agent_stack, is_agent
from nimbill.legacy.agent.bodies import SessionCredentials
from nimbill.legacy.provisioning.provisioner import STACK_TAG, PermanentError, TransientError
from nimbill.legacy.templates import records as templates
from nimbill.legacy.templates.secrets import read_template_with_secrets

# The published agent asks again after at most 29 minutes, so one failed request does no harm.
SESSION_SECONDS = 3_600
RETRY_SECONDS = 30


class SessionUse(StrEnum):
    stack = "stack"
    logs = "logs"


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """What the token service needs; the credential is that of the stack's template."""

    role_arn: str
    region: str
    session_name: str
    policy: str
    credentials: str = field(repr=False)


async def prepare_session(
    db: AsyncConnection,
    caller: Caller,
    encryptor: Encryptor,
    *,
    stack_id: str,
    role_arn: str | None,
    use: SessionUse,
) -> SessionRequest:
    """Refuse API clients, simulated stacks, and organisations without a role for agents."""
    stack = await find_agent_stack(db, caller, stack_id)
    if not is_agent(caller):
        raise NotPermitted("agent_alone", "Only the agent of the stack receives its credentials.")
    if stack.provisioner != "aws":
        raise NotFound(
            "no_session_credentials",
            "This stack is simulated, so there are no cloud credentials for it.",
        )
    if role_arn is None:
        raise NotFound(
            "no_session_credentials",
            "The organisation has no role for agents. Set agent_role_arn in its settings.",
        )
    version = await templates.find_version(db, caller.scope, stack_id, stack.version_id)
    assert version is not None, "a stack has the version it names"
    template = read_template_with_secrets(version, encryptor)
    if use is SessionUse.stack:
        policy = build_stack_policy(stack_id)
    else:
        policy = build_logs_policy(stack_id, stack.region, role_arn.split(":")[1])
    return SessionRequest(
        role_arn, stack.region, stack_id, policy, template["vendor"]["aws"]["cred"]
    )


async def open_session(request: SessionRequest, endpoint_url: str | None) -> SessionCredentials:
    """Ask the token service; call it without a transaction, because it may take seconds."""
    if describe_missing_extra("aws", "This stack"):
        raise _unavailable("The operator of the server must install nimbill[aws].")
    # imported when needed: loading boto3 takes half a second
    from nimbill.legacy.provisioning.aws_sessions import assume_role

    try:
        answer = await asyncio.to_thread(
            assume_role,
            credentials=request.credentials,
            region=request.region,
            role_arn=request.role_arn,
            session_name=request.session_name,
            policy=request.policy,
            seconds=SESSION_SECONDS,
            endpoint_url=endpoint_url,
        )
    except (PermanentError, TransientError) as error:
        raise _unavailable(f"{str(error)[0].upper()}{str(error)[1:]}.") from None
    return SessionCredentials(
        AccessKeyID=answer["AccessKeyId"],
        SecretAccessKey=answer["SecretAccessKey"],
        SessionToken=answer["SessionToken"],
    )


def _unavailable(detail: str) -> Conflict:
    return Conflict("session_refused", detail, retry_after=RETRY_SECONDS)


def build_stack_policy(stack_id: str) -> str:
    """Allow the use of instances, volumes and file systems that have the stack's tag."""
    return _format_policy(
        {
            "Effect": "Allow",
            "Action": ["ec2:*", "elasticfilesystem:*"],
            "Resource": "*",
            "Condition": {"StringEquals": {f"aws:ResourceTag/{STACK_TAG}": stack_id}},
        },
        # the tags decide what belongs to a stack, so no agent may change them
        {
            "Effect": "Deny",
            "Action": [
                "ec2:CreateTags",
                "ec2:DeleteTags",
                "elasticfilesystem:TagResource",
                "elasticfilesystem:UntagResource",
            ],
            "Resource": "*",
        },
    )


def build_logs_policy(stack_id: str, region: str, partition: str) -> str:
    """Allow writing to log groups whose names contain the id of the stack."""
    groups = f"arn:{partition}:logs:{region}:*:log-group:*{stack_id}*"
    return _format_policy(
        {
            "Effect": "Allow",
            "Action": [
                "logs:CreateLogGroup",
                "logs:CreateLogStream",
                "logs:DescribeLogStreams",
                "logs:PutLogEvents",
            ],
            "Resource": groups,
        }
    )


def _format_policy(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))
