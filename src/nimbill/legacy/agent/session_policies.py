"""Session policies: what temporary credentials of a stack's agent allow, at most.

AWS grants the intersection of the session policy and the policies of the role.
"""

import json
from collections.abc import Mapping
from typing import Any

from nimbill.legacy.provisioning.provisioner import STACK_TAG


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
