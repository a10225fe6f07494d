"""Response bodies of deployments, in the order of the specification."""

from typing import ClassVar

from nimbill.foundation.basis import Basis, stated
from nimbill.http.request_bodies import Body

DEPLOYMENT = stated("Deployment")


class DeployedResource(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = DEPLOYMENT

    key: str  # the type of the resource
    value: str  # its identifier


class DeploymentItem(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = DEPLOYMENT

    name: str
    status: str
    resources: list[DeployedResource]


class DeployedStack(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = DEPLOYMENT

    name: str
    region: str
    items: list[DeploymentItem]


class Deployment(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = DEPLOYMENT

    deployment: str
    stacks: list[DeployedStack]
