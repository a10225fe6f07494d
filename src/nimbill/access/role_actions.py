"""The role actions as specified, and which of them each product has."""

from collections.abc import Mapping
from enum import StrEnum

from nimbill.foundation.basis import chosen
from nimbill.foundation.product import Product

# A filter on tags names them as KEY=VALUE; the first sign ends the key.
TAG_SEPARATOR = "="


class RoleAction(StrEnum):
    Admin = "Admin"

    ReadReseller = "ReadReseller"
    ModifyReseller = "ModifyReseller"
    ReadRi = "ReadRi"
    ModifyRi = "ModifyRi"
    ReadInvoice = "ReadInvoice"
    ModifyInvoice = "ModifyInvoice"
    ReadBillingGroup = "ReadBillingGroup"
    ModifyBillingGroup = "ModifyBillingGroup"
    ReadAccount = "ReadAccount"
    ModifyAccount = "ModifyAccount"
    ReadProject = "ReadProject"
    ModifyProject = "ModifyProject"

    ReadSettings = "ReadSettings"
    ModifySettings = "ModifySettings"
    ReadUsers = "ReadUsers"
    ModifyUsers = "ModifyUsers"
    ModifyApiClients = "ModifyApiClients"
    ReadRoles = "ReadRoles"
    ModifyRoles = "ModifyRoles"
    ReadCost = "ReadCost"
    ModifyCost = "ModifyCost"
    ReadDeployment = "ReadDeployment"
    ModifyDeployment = "ModifyDeployment"
    ReadAudit = "ReadAudit"
    ApproveRequests = "ApproveRequests"

    ReadGroups = "ReadGroups"
    ModifyGroups = "ModifyGroups"
    ReadTags = "ReadTags"
    DownloadReports = "DownloadReports"
    ReadBudget = "ReadBudget"
    ModifyBudget = "ModifyBudget"


# For routes that any caller with a token of the right product may use.
ANY_CALLER: tuple[RoleAction, ...] = ()

_SHARED_ACTIONS = (
    RoleAction.Admin,
    RoleAction.ReadSettings,
    RoleAction.ModifySettings,
    RoleAction.ReadUsers,
    RoleAction.ModifyUsers,
    RoleAction.ModifyApiClients,
    RoleAction.ReadRoles,
    RoleAction.ModifyRoles,
)

basis = chosen("offered-permissions")

PERMISSIONS_BY_PRODUCT: Mapping[Product, tuple[RoleAction, ...]] = {
    Product.core: (
        *_SHARED_ACTIONS,
        RoleAction.ReadReseller,
        RoleAction.ModifyReseller,
        RoleAction.ReadRi,
        RoleAction.ModifyRi,
        RoleAction.ReadInvoice,
        RoleAction.ModifyInvoice,
        RoleAction.ReadBillingGroup,
        RoleAction.ModifyBillingGroup,
        RoleAction.ReadAccount,
        RoleAction.ModifyAccount,
        RoleAction.ReadProject,
        RoleAction.ModifyProject,
        RoleAction.ReadCost,
        RoleAction.ModifyCost,
        RoleAction.ReadDeployment,
        RoleAction.ModifyDeployment,
        RoleAction.ReadAudit,
        RoleAction.ApproveRequests,
    ),
    Product.portal: (
        *_SHARED_ACTIONS,
        RoleAction.ReadAccount,
        RoleAction.ReadGroups,
        RoleAction.ModifyGroups,
        RoleAction.ReadTags,
        RoleAction.ReadInvoice,
        RoleAction.ReadRi,
        RoleAction.DownloadReports,
        RoleAction.ReadBudget,
        RoleAction.ModifyBudget,
    ),
}
