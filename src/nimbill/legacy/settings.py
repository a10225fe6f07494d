"""The settings of version 3, read from the same environment as all others."""

from dataclasses import dataclass

from nimbill.foundation.extras import describe_missing_extra
from nimbill.foundation.settings import Settings, SettingsError, read_number, read_url

PROVISIONERS = ("local", "aws")
PROVISIONER_AWS = "NIMBILL_PROVISIONER=aws"

SETTING_NAMES = frozenset(
    {
        "NIMBILL_AWS_ENDPOINT_URL",
        "NIMBILL_LEGACY_TOKEN_SECONDS",
        "NIMBILL_LEGACY_URL",
        "NIMBILL_PROVISIONER",
    }
)


@dataclass(frozen=True, slots=True)
class LegacySettings:
    url: str  # the address of the version 3 API, as its tokens name it
    token_seconds: int
    provisioner: str  # launches the instances of new stacks: "local" or "aws"
    agent_url: str  # the address at which agents on launched instances reach the API
    own_url: str  # the same for agents on this machine
    aws_endpoint_url: str | None  # replaces the public endpoints of AWS


def read_legacy_settings(settings: Settings) -> LegacySettings:
    """The settings of version 3 with their defaults; SettingsError if a value is invalid."""
    environment = settings.environment
    agent_url = read_url(environment, "NIMBILL_LEGACY_URL", settings.link_url)
    provisioner = environment.get("NIMBILL_PROVISIONER") or "local"
    if provisioner not in PROVISIONERS:
        raise SettingsError(f"NIMBILL_PROVISIONER must be one of {', '.join(PROVISIONERS)}")
    if provisioner == "aws" and (missing := describe_missing_extra("aws", PROVISIONER_AWS)):
        raise SettingsError(missing)
    aws_endpoint_url = None
    if environment.get("NIMBILL_AWS_ENDPOINT_URL"):
        aws_endpoint_url = read_url(environment, "NIMBILL_AWS_ENDPOINT_URL", "")
    return LegacySettings(
        url=read_url(environment, "NIMBILL_LEGACY_URL", settings.base_url),
        token_seconds=read_number(environment, "NIMBILL_LEGACY_TOKEN_SECONDS", 43_200, minimum=1),
        provisioner=provisioner,
        agent_url=agent_url,
        own_url=read_url(environment, "NIMBILL_LISTENS_AT", agent_url),
        aws_endpoint_url=aws_endpoint_url,
    )
