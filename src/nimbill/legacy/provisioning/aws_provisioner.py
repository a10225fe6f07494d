"""A provisioner for AWS EC2, through boto3. Import it only when needed: boto3 loads slowly."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import create_loader

from nimbill.legacy.provisioning.aws_errors import translate_error
from nimbill.legacy.provisioning.computed_values import (
    COMPUTED,
    IMAGE_NAMES,
    IMAGE_OWNER,
    choose_newest_image,
    choose_volume_type,
    find_architecture,
)
from nimbill.legacy.provisioning.provisioner import (
    STACK_TAG,
    Instance,
    LaunchContext,
    Observation,
    ObservedState,
    PermanentError,
)
from nimbill.legacy.stacks.stack_instances import ADDRESS_FIELDS

# See docs/choices.md, provisioners.
# See docs/choices.md, stack-key-pairs.
# See docs/choices.md, spot-instances.

KEY_TAG = "nimbill:instance"
FLAG_TAG = "nimbill:flag"

CONNECT_SECONDS = 5
READ_SECONDS = 20
ATTEMPTS_MAX = 4  # per request, if it is throttled or not answered

EXISTING_STATES = ("pending", "running", "stopping", "stopped", "shutting-down")

Ec2Instance = Mapping[str, Any]


# See docs/choices.md, agent-on-instances.

CONFIG_FILE = "/etc/nimbill/agent.json"

UNIT = "nimbill-agent.service"


# a systemd unit, so that the agent also runs after the instance was stopped and started
_UNIT_TEXT = f"""[Unit]
Description=Nimbill agent
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=/usr/bin/env nimbill agent --config {CONFIG_FILE}
Restart=on-failure
RestartSec=10
# 2: invalid configuration, 3: the stack no longer exists
RestartPreventExitStatus=2 3

[Install]
WantedBy=multi-user.target
"""


class AwsProvisioner:
    """Instances of one stack, managed with the credentials of its template only."""

    def __init__(self, context: LaunchContext, endpoint_url: str | None = None) -> None:
        self._context = context
        self._endpoint_url = endpoint_url
        self._client: Any = None

    @property
    def _ec2(self) -> Any:
        if self._client is None:
            self._client = create_client(
                "ec2",
                credentials=self._context.credentials,
                region=self._context.region,
                endpoint_url=self._endpoint_url,
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"mode": "standard", "max_attempts": ATTEMPTS_MAX},
            )
        return self._client

    def compute_values(self, provision: Mapping[str, Any]) -> dict[str, str]:
        values = {}
        if provision["image"] == COMPUTED:
            values["image"] = self._find_newest_image(provision["instance_type"])
        if provision["volume_type"] == COMPUTED:
            values["volume_type"] = choose_volume_type(self._context.region)
        return values

    def launch(self, instance: Instance) -> str:
        """Look for the instance's tag first: it may have been launched before a crash."""
        with translated_errors("the instance could not be launched"):
            found = self._list_instances({KEY_TAG: instance.instance_key})
            if found:
                return str(found[0]["InstanceId"])
            launched = self._ec2.run_instances(**self._launch_request(instance))
            return str(launched["Instances"][0]["InstanceId"])

    def update_instances(self, instances: Sequence[Instance]) -> dict[str, Observation]:
        if not instances:
            return {}
        with translated_errors("the instances could not be read"):
            found = {
                ec2_instance["InstanceId"]: ec2_instance for ec2_instance in self._list_instances()
            }
        return {
            instance.instance_key: self._update(instance, found.get(instance.instance_id))
            for instance in instances
        }

    def terminate(self, instances: Sequence[Instance]) -> set[str]:
        if not instances:
            return set()
        keys = {instance.instance_key for instance in instances}
        with translated_errors("the instances could not be terminated"):
            found = [
                ec2_instance
                for ec2_instance in self._list_instances()
                if _read_tag(ec2_instance, KEY_TAG) in keys
            ]
            existing = self._terminate(found)
        return keys - {_read_tag(ec2_instance, KEY_TAG) for ec2_instance in existing}

    def delete_remaining(self) -> bool:
        with translated_errors("the instances could not be terminated"):
            if self._terminate(self._list_instances()):
                return False
        with translated_errors("the key pair could not be deleted"):
            self._ec2.delete_key_pair(KeyName=self._key_name)  # succeeds if there is none
        return True

    def _terminate(self, ec2_instances: Sequence[Ec2Instance]) -> list[Ec2Instance]:
        """Return those that still exist."""
        existing = [
            ec2_instance
            for ec2_instance in ec2_instances
            if _read_state(ec2_instance) in EXISTING_STATES
        ]
        ids = [
            ec2_instance["InstanceId"]
            for ec2_instance in existing
            if _read_state(ec2_instance) != "shutting-down"
        ]
        if ids:
            self._ec2.terminate_instances(InstanceIds=ids)
        return existing

    def _list_instances(self, tags: Mapping[str, str] | None = None) -> list[Ec2Instance]:
        """Instances of this stack in any state, that have these tags too."""
        wanted = {STACK_TAG: self._context.stack_id, **(tags or {})}
        filters = [{"Name": f"tag:{name}", "Values": [value]} for name, value in wanted.items()]
        pages = self._ec2.get_paginator("describe_instances").paginate(Filters=filters)
        return [
            ec2_instance
            for page in pages
            for reservation in page["Reservations"]
            for ec2_instance in reservation["Instances"]
        ]

    def _update(self, instance: Instance, ec2_instance: Ec2Instance | None) -> Observation:
        """To change its type, an instance is stopped, changed and started, one step per pass."""
        if ec2_instance is None:
            # EC2 may not list an instance for a moment after its launch
            was_running = instance.state == "running"
            return Observation(
                ObservedState.gone if was_running else ObservedState.starting,
                "the instance no longer exists",
            )
        state, instance_type = _read_state(ec2_instance), instance.provision["instance_type"]
        has_type = ec2_instance["InstanceType"] == instance_type
        if state == "running" and has_type:
            return Observation(ObservedState.running, addresses=_read_addresses(ec2_instance))
        if state in ("shutting-down", "terminated"):
            return Observation(ObservedState.gone, _read_termination_reason(ec2_instance))
        try:
            with translated_errors("the instance could not be changed"):
                new_type = None if has_type else instance_type
                self._advance(ec2_instance["InstanceId"], state, new_type)
        except PermanentError as error:
            return Observation(ObservedState.unchangeable, str(error))
        return Observation(ObservedState.starting)

    def _advance(self, instance_id: str, state: str, new_type: str | None) -> None:
        if state == "running":
            self._ec2.stop_instances(InstanceIds=[instance_id])
        elif state == "stopped":
            try:
                if new_type is not None:
                    self._ec2.modify_instance_attribute(
                        InstanceId=instance_id, InstanceType={"Value": new_type}
                    )
            finally:  # an instance whose new type is rejected must not remain stopped
                self._ec2.start_instances(InstanceIds=[instance_id])

    def _launch_request(self, instance: Instance) -> dict[str, Any]:
        provision, context = instance.provision, self._context
        name = f"{context.nickname} {instance.flag} {instance.ordinal + 1}"
        tags = [
            {"Key": "Name", "Value": name},
            {"Key": STACK_TAG, "Value": context.stack_id},
            {"Key": KEY_TAG, "Value": instance.instance_key},
            {"Key": FLAG_TAG, "Value": instance.flag},
        ]
        request: dict[str, Any] = {
            "MinCount": 1,
            "MaxCount": 1,
            "ClientToken": instance.instance_key,
            "ImageId": provision["image"],
            "InstanceType": provision["instance_type"],
            "BlockDeviceMappings": [self._root_volume(provision)],
            "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled"},
            "TagSpecifications": [
                {"ResourceType": resource_type, "Tags": tags}
                for resource_type in ("instance", "volume")
            ],
            "UserData": build_user_data(context, instance.flag),
        }
        if provision["keypair"]:
            request["KeyName"] = self._ensure_key_pair()
        if provision["spot"]:
            once = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
            request["InstanceMarketOptions"] = {"MarketType": "spot", "SpotOptions": once}
        return request

    def _root_volume(self, provision: Mapping[str, Any]) -> dict[str, Any]:
        """A volume of the provision's type, with the size that the image specifies."""
        images = self._ec2.describe_images(ImageIds=[provision["image"]])["Images"]
        if not images:
            raise PermanentError("the instance could not be launched: there is no such image")
        device = images[0]["RootDeviceName"]
        volume = {"VolumeType": provision["volume_type"], "DeleteOnTermination": True}
        for mapping in images[0].get("BlockDeviceMappings") or []:
            size = mapping.get("Ebs", {}).get("VolumeSize")
            if mapping.get("DeviceName") == device and size:
                volume["VolumeSize"] = size
        return {"DeviceName": device, "Ebs": volume}

    @property
    def _key_name(self) -> str:
        return f"nimbill-{self._context.stack_id}"

    def _ensure_key_pair(self) -> str:
        """The private key is discarded; to log in, import your own key under this name first."""
        by_name = [{"Name": "key-name", "Values": [self._key_name]}]
        if not self._ec2.describe_key_pairs(Filters=by_name)["KeyPairs"]:
            tags = [{"Key": STACK_TAG, "Value": self._context.stack_id}]
            self._ec2.create_key_pair(
                KeyName=self._key_name,
                TagSpecifications=[{"ResourceType": "key-pair", "Tags": tags}],
            )
        return self._key_name

    def _find_newest_image(self, instance_type: str) -> str:
        criteria = {
            "name": IMAGE_NAMES,
            "architecture": find_architecture(instance_type),
            "state": "available",
        }
        filters = [{"Name": name, "Values": [value]} for name, value in criteria.items()]
        with translated_errors("an image could not be found"):
            images = self._ec2.describe_images(Owners=[IMAGE_OWNER], Filters=filters)["Images"]
        image = choose_newest_image(images)
        if image is None:
            raise PermanentError("an image could not be found: the region has no suitable one")
        return image


@contextmanager
def translated_errors(failure: str) -> Iterator[None]:
    """Replace errors of AWS and boto3 by ours: their texts may repeat what was sent."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise translate_error(error, failure) from None


def create_client(
    service: str, *, credentials: str, region: str, endpoint_url: str | None, **config: Any
) -> Any:
    """A client of boto3 that uses this credential only; `config` has timeouts and retries."""
    key_id, secret, session_token = parse_credentials(credentials)
    session = botocore.session.Session()
    session.register_component("data_loader", _shared_loader())
    with translated_errors("the region is not known"):
        return boto3.Session(botocore_session=session).client(
            service,
            region_name=region,
            endpoint_url=endpoint_url,
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
            aws_session_token=session_token,
            config=Config(**config),
        )


@cache
def _shared_loader() -> Any:
    """One per process: the description of the EC2 API is large and slow to read."""
    return create_loader()


def parse_credentials(text: str) -> tuple[str, str, str | None]:
    """`key id:secret`, optionally followed by a colon and a session token."""
    parts = text.strip().split(":", 2)
    if len(parts) < 2 or not all(parts):
        raise PermanentError("the credential is not of the form key id:secret")
    return parts[0], parts[1], parts[2] if len(parts) == 3 else None


def _read_state(ec2_instance: Ec2Instance) -> str:
    return str(ec2_instance["State"]["Name"])


def _read_addresses(ec2_instance: Ec2Instance) -> dict[str, str]:
    """The addresses that the instance has now; without a public one its fields are empty."""
    return {name: ec2_instance[name] for name in ADDRESS_FIELDS if ec2_instance.get(name)}


def _read_tag(ec2_instance: Ec2Instance, name: str) -> str:
    tags: list[Mapping[str, str]] = ec2_instance.get("Tags") or []
    return next((tag["Value"] for tag in tags if tag["Key"] == name), "")


def _read_termination_reason(ec2_instance: Ec2Instance) -> str:
    """Includes the code of AWS, for example Server.InsufficientInstanceCapacity."""
    code = (ec2_instance.get("StateReason") or {}).get("Code")
    return f"AWS terminated the instance: {code}" if code else "the instance was terminated"


def build_user_data(context: LaunchContext, flag: str) -> str:
    """A cloud-config document, written as JSON because JSON is valid YAML and quotes safely."""
    config = {
        "address": context.address,
        "stack_id": context.stack_id,
        "flag": flag,
        "token": context.token,
    }
    document = {
        "write_files": [
            {
                "path": CONFIG_FILE,
                "owner": "root:root",
                "permissions": "0600",
                "content": json.dumps(config),
            },
            {
                "path": f"/etc/systemd/system/{UNIT}",
                "owner": "root:root",
                "permissions": "0644",
                "content": _UNIT_TEXT,
            },
        ],
        "runcmd": [["systemctl", "enable", "--now", "--no-block", UNIT]],
    }
    return f"#cloud-config\n{json.dumps(document, indent=1)}\n"
