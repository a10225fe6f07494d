"""All routes of version 3 except its token endpoint; paths are relative to /v3."""

from nimbill.legacy.agent import routes as agent_routes
from nimbill.legacy.containers import routes as container_routes
from nimbill.legacy.roles import routes as role_routes
from nimbill.legacy.stacks import routes as stack_routes
from nimbill.legacy.templates import routes as template_routes

ROUTES = [
    *agent_routes.ROUTES,
    *container_routes.ROUTES,
    *role_routes.ROUTES,
    *stack_routes.ROUTES,
    *template_routes.ROUTES,
]
