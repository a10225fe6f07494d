"""Which operation of version 3 takes the ids that a response contains."""

from nimbill.http.response_links import ResponseLink, ResponseLinks

BODY, FIRST = "$response.body#", "$response.body#/0"


def _link_stack(record: str) -> list[ResponseLink]:
    stack_id = {"stack_id": f"{record}/stack_id"}
    return [
        ResponseLink("describe_stack", stack_id),
        ResponseLink("delete_stack", stack_id),
        ResponseLink("update_template", stack_id),
        ResponseLink("read_template", {**stack_id, "version_id": f"{record}/version_id"}),
        ResponseLink("list_template_versions", stack_id),
        ResponseLink("list_containers", stack_id),
    ]


def _link_container(record: str) -> list[ResponseLink]:
    return [
        ResponseLink("describe_container", {"container_id": f"{record}/container_id"}),
        ResponseLink("describe_stack", {"stack_id": f"{record}/stack_id"}),
    ]


def _link_role(role_id: str) -> list[ResponseLink]:
    in_path = {"role_id": role_id}
    return [
        ResponseLink("update_legacy_role", in_path),
        ResponseLink("delete_legacy_role", in_path),
        ResponseLink("attach_legacy_role", body=in_path),
        ResponseLink("reattach_legacy_role", in_path),
    ]


def _link_attached_role() -> list[ResponseLink]:
    username = "$request.body#/username"
    both = {"role_id": "$request.body#/role_id", "username": username}
    return [
        ResponseLink("detach_legacy_role", both),
        ResponseLink("list_legacy_roles_of_user", {"username": username}),
    ]


RESPONSE_LINKS: ResponseLinks = {
    "apply_template": _link_stack(BODY),
    "update_template": _link_stack(BODY),
    "list_stacks": _link_stack(FIRST),
    "list_template_versions": [
        ResponseLink(
            "read_template",
            {"stack_id": "$request.query.stack_id", "version_id": f"{FIRST}/version_id"},
        )
    ],
    "list_containers": _link_container(FIRST),
    "report_container_status": _link_container(BODY),
    "report_agent_status": [
        ResponseLink("read_agent_configuration", {"stack_id": f"{BODY}/stack_id"})
    ],
    "create_legacy_role": _link_role(f"{BODY}/role_id"),
    "list_legacy_roles": _link_role(f"{FIRST}/role_id"),
    "attach_legacy_role": _link_attached_role(),
}
