"""Instances at AWS: launched, tagged, changed and ended through boto3, which is slow to load."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.loaders import create_loader

from nimbill.foundation.basis import chosen
from nimbill.legacy.provisioning.aws_errors import refusal_of
from nimbill.legacy.provisioning.cloud_init import user_data
from nimbill.legacy.provisioning.computed import (
    COMPUTED,
    IMAGE_NAMES,
    IMAGE_OWNER,
    architecture_of,
    newest_image,
    volume_type_for,
)
from nimbill.legacy.provisioning.provisioner import Life, Machine, Observation, Order, Refused

basis = chosen("provisioners")
key_pair_basis = chosen("stack-key-pairs")
spot_basis = chosen("spot-instances")

STACK_TAG = "nimbill:stack"
KEY_TAG = "nimbill:instance"
FLAG_TAG = "nimbill:flag"

CONNECT_SECONDS = 5
READ_SECONDS = 20
CALLS_MAX = 4  # of one question, where it is throttled or not answered

ALIVE = ("pending", "running", "stopping", "stopped", "shutting-down")


class AwsProvisioner:
    """For one stack, with the credentials of its template and no others."""

    def __init__(self, order: Order, endpoint_url: str | None = None) -> None:
        self._order = order
        self._endpoint_url = endpoint_url
        self._client: Any = None

    @property
    def _ec2(self) -> Any:
        if self._client is None:
            self._client = _client(self._order, self._endpoint_url)
        return self._client

    def computed(self, provision: Mapping[str, Any]) -> dict[str, str]:
        filled = {}
        if provision["image"] == COMPUTED:
            filled["image"] = self._newest_image(provision["instance_type"])
        if provision["volume_type"] == COMPUTED:
            filled["volume_type"] = volume_type_for(self._order.region)
        return filled

    def launch(self, machine: Machine) -> str:
        """Its tag is asked for first: what was launched before a crash is not launched again."""
        with _told("the instance could not be launched"):
            found = self._tagged(KEY_TAG, machine.instance_key)
            if found:
                return str(found[0]["InstanceId"])
            launched = self._ec2.run_instances(**self._request(machine))
            return str(launched["Instances"][0]["InstanceId"])

    def bring_up(self, machines: Sequence[Machine]) -> dict[str, Observation]:
        if not machines:
            return {}
        with _told("the instances could not be looked at"):
            found = {one["InstanceId"]: one for one in self._tagged(STACK_TAG)}
        return {one.instance_key: self._pushed(one, found.get(one.instance_id)) for one in machines}

    def end(self, machines: Sequence[Machine]) -> set[str]:
        if not machines:
            return set()
        keys = {one.instance_key for one in machines}
        with _told("the instances could not be ended"):
            left = [one for one in self._tagged(STACK_TAG) if _tag(one, KEY_TAG) in keys]
            return keys - {_tag(one, KEY_TAG) for one in self._terminated(left)}

    def clear(self) -> bool:
        with _told("the instances could not be ended"):
            if self._terminated(self._tagged(STACK_TAG)):
                return False
        with _told("the key pair could not be deleted"):
            self._ec2.delete_key_pair(KeyName=self._key_name)  # no error where there is none
        return True

    def _terminated(self, instances: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Has them ended; those that are not gone yet."""
        left = [one for one in instances if _state(one) in ALIVE]
        told = [one["InstanceId"] for one in left if _state(one) != "shutting-down"]
        if told:
            self._ec2.terminate_instances(InstanceIds=told)
        return left

    def _tagged(self, tag: str, value: str | None = None) -> list[Mapping[str, Any]]:
        """Of this stack, in whatever state; without a value by the stack alone."""
        filters = [{"Name": f"tag:{STACK_TAG}", "Values": [self._order.stack_id]}]
        if value is not None:
            filters.append({"Name": f"tag:{tag}", "Values": [value]})
        pages = self._ec2.get_paginator("describe_instances").paginate(Filters=filters)
        return [
            instance
            for page in pages
            for reservation in page["Reservations"]
            for instance in reservation["Instances"]
        ]

    def _pushed(self, machine: Machine, found: Mapping[str, Any] | None) -> Observation:
        """What is of another type is stopped, changed and started, a step at each look."""
        if found is None:
            # what was launched a moment ago may not be listed yet
            known = machine.state == "running"
            return Observation(Life.gone if known else Life.coming, "it is not there any more")
        state, id_ = _state(found), found["InstanceId"]
        fits = found["InstanceType"] == machine.provision["instance_type"]
        if state == "running" and fits:
            return Observation(Life.running)
        if state in ("shutting-down", "terminated"):
            return Observation(Life.gone, _why(found))
        try:
            with _told("the instance could not be brought to what it is to be"):
                self._push(id_, state, None if fits else machine.provision["instance_type"])
        except Refused as refused:
            return Observation(Life.refused, str(refused))
        return Observation(Life.coming)

    def _push(self, id_: str, state: str, new_type: str | None) -> None:
        if state == "running":
            self._ec2.stop_instances(InstanceIds=[id_])
        elif state == "stopped":
            try:
                if new_type is not None:
                    self._ec2.modify_instance_attribute(
                        InstanceId=id_, InstanceType={"Value": new_type}
                    )
            finally:  # a type that is refused must not leave it standing still
                self._ec2.start_instances(InstanceIds=[id_])

    def _request(self, machine: Machine) -> dict[str, Any]:
        provision, order = machine.provision, self._order
        tags = [
            {"Key": "Name", "Value": f"{order.nickname} {machine.flag} {machine.ordinal + 1}"},
            {"Key": STACK_TAG, "Value": order.stack_id},
            {"Key": KEY_TAG, "Value": machine.instance_key},
            {"Key": FLAG_TAG, "Value": machine.flag},
        ]
        request: dict[str, Any] = {
            "MinCount": 1,
            "MaxCount": 1,
            "ClientToken": machine.instance_key,
            "ImageId": provision["image"],
            "InstanceType": provision["instance_type"],
            "BlockDeviceMappings": [self._root_volume(provision)],
            "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled"},
            "TagSpecifications": [
                {"ResourceType": kind, "Tags": tags} for kind in ("instance", "volume")
            ],
            "UserData": user_data(order, machine.flag),
        }
        if provision["keypair"]:
            request["KeyName"] = self._made_key_pair()
        if provision["spot"]:
            once = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
            request["InstanceMarketOptions"] = {"MarketType": "spot", "SpotOptions": once}
        return request

    def _root_volume(self, provision: Mapping[str, Any]) -> dict[str, Any]:
        """As large as the image has it, and of the type that was asked for."""
        images = self._ec2.describe_images(ImageIds=[provision["image"]])["Images"]
        if not images:
            raise Refused("the instance could not be launched: there is no such image")
        device = images[0]["RootDeviceName"]
        volume = {"VolumeType": provision["volume_type"], "DeleteOnTermination": True}
        for one in images[0].get("BlockDeviceMappings") or []:
            size = one.get("Ebs", {}).get("VolumeSize")
            if one.get("DeviceName") == device and size:
                volume["VolumeSize"] = size
        return {"DeviceName": device, "Ebs": volume}

    @property
    def _key_name(self) -> str:
        return f"nimbill-{self._order.stack_id}"

    def _made_key_pair(self) -> str:
        """Its private half is thrown away; whoever wants in puts a key of that name there first."""
        named = [{"Name": "key-name", "Values": [self._key_name]}]
        if not self._ec2.describe_key_pairs(Filters=named)["KeyPairs"]:
            tags = [{"Key": STACK_TAG, "Value": self._order.stack_id}]
            self._ec2.create_key_pair(
                KeyName=self._key_name,
                TagSpecifications=[{"ResourceType": "key-pair", "Tags": tags}],
            )
        return self._key_name

    def _newest_image(self, instance_type: str) -> str:
        asked = {
            "name": IMAGE_NAMES,
            "architecture": architecture_of(instance_type),
            "state": "available",
        }
        filters = [{"Name": name, "Values": [value]} for name, value in asked.items()]
        with _told("an image could not be found"):
            offered = self._ec2.describe_images(Owners=[IMAGE_OWNER], Filters=filters)["Images"]
        image = newest_image(offered)
        if image is None:
            raise Refused("an image could not be found: the region offers none that fits")
        return image


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Whatever AWS or the way to it says, in our words; its own may repeat what was sent."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        raise refusal_of(error, what) from None


def _client(order: Order, endpoint_url: str | None) -> Any:
    key_id, secret, session_token = credentials_of(order.credentials)
    shared = botocore.session.Session()
    shared.register_component("data_loader", _loader())
    with _told("the region is not known"):
        return boto3.Session(botocore_session=shared).client(
            "ec2",
            region_name=order.region,
            endpoint_url=endpoint_url,
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
            aws_session_token=session_token,
            config=Config(
                connect_timeout=CONNECT_SECONDS,
                read_timeout=READ_SECONDS,
                retries={"mode": "standard", "max_attempts": CALLS_MAX},
            ),
        )


@cache
def _loader() -> Any:
    """The description of the interface is large: read once for a process."""
    return create_loader()


def credentials_of(written: str) -> tuple[str, str, str | None]:
    """`key id:secret`, or with a session token behind a further colon."""
    parts = written.strip().split(":", 2)
    if len(parts) < 2 or not all(parts):
        raise Refused("the credential is not of the form key id:secret")
    return parts[0], parts[1], parts[2] if len(parts) == 3 else None


def _state(instance: Mapping[str, Any]) -> str:
    return str(instance["State"]["Name"])


def _tag(instance: Mapping[str, Any], name: str) -> str:
    tags: list[Mapping[str, str]] = instance.get("Tags") or []
    return next((one["Value"] for one in tags if one["Key"] == name), "")


def _why(instance: Mapping[str, Any]) -> str:
    """AWS's word for it, such as Server.InsufficientInstanceCapacity."""
    code = (instance.get("StateReason") or {}).get("Code")
    return f"AWS ended it: {code}" if code else "it was ended"
