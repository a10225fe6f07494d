"""Request and response bodies of the project routes, as specified."""

from typing import Annotated, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.currency import Currency
from nimbill.http.request_bodies import Body, Success, text_length


class ProjectBody(Body, frozen=True, kw_only=True):
    """Body of both create and edit."""

    basis: ClassVar[Basis] = stated("Project")

    project_code: Annotated[str, text_length(1, 40)]
    project_label: Annotated[str, text_length(1, 40)]
    project_currency: Currency


class ProjectCreated(Success, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("project-paths")

    project_id: str


class ProjectRecord(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("project-paths")

    project_id: str
    project_code: str
    project_label: str
    project_currency: Currency
    etag: str | UnsetType = UNSET  # with the parameter `etags`
