"""Sessions of AWS roles, through boto3. Import it only when needed: boto3 loads slowly."""

from collections.abc import Mapping

from nimbill.legacy.provisioning.aws_provisioner import create_client, translated_errors

# An agent waits for the answer, and repeats the request if it fails.
CONNECT_SECONDS = 3
READ_SECONDS = 5
ATTEMPTS_MAX = 2


def assume_role(
    *,
    credentials: str,
    region: str,
    role_arn: str,
    session_name: str,
    policy: str,
    seconds: int,
    endpoint_url: str | None,
) -> Mapping[str, str]:
    """AccessKeyId, SecretAccessKey and SessionToken of a session limited by the policy."""
    client = create_client(
        "sts",
        credentials=credentials,
        region=region,
        endpoint_url=endpoint_url,
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"mode": "standard", "max_attempts": ATTEMPTS_MAX},
    )
    try:
        with translated_errors("the role for agents could not be assumed"):
            answer = client.assume_role(
                RoleArn=role_arn,
                RoleSessionName=session_name,
                Policy=policy,
                DurationSeconds=seconds,
            )
    finally:
        client.close()
    found: Mapping[str, str] = answer["Credentials"]
    return found
