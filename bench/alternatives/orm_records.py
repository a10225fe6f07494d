"""The tables as SQLAlchemy ORM classes, for the FastAPI application."""

from datetime import datetime
from decimal import Decimal

from sqlalchemy import ForeignKeyConstraint, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class OrmBase(DeclarativeBase):
    pass


class UserRow(OrmBase):
    __tablename__ = "users"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(primary_key=True)
    username: Mapped[str]
    kind: Mapped[str]


class ProjectRow(OrmBase):
    __tablename__ = "projects"

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    project_id: Mapped[str] = mapped_column(primary_key=True)
    project_code: Mapped[str]
    project_label: Mapped[str]
    project_currency: Mapped[str]


class InvoiceSettingRow(OrmBase):
    __tablename__ = "invoice_settings"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "company_id"],
            ["billing_groups.organisation_id", "billing_groups.company_id"],
        ),
    )

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    company_id: Mapped[str] = mapped_column(primary_key=True)
    vendor: Mapped[str] = mapped_column(primary_key=True)
    calc_type: Mapped[str]
    currency: Mapped[str]
    discount_calc_logic: Mapped[str]
    discount_rate: Mapped[Decimal]
    discount_target_usage: Mapped[str]
    substitution_fee: Mapped[str]
    substitution_fee_calc_target: Mapped[str]
    substitution_fee_calc_type: Mapped[str]
    substitution_fee_target_usage: Mapped[str]
    substitution_fix: Mapped[Decimal]
    substitution_rate: Mapped[Decimal]
    support_amount_target: Mapped[str]
    support_fee: Mapped[str]
    support_fee_calc_target: Mapped[str]
    support_fix: Mapped[Decimal]
    support_rate: Mapped[Decimal]
    tax_rate: Mapped[Decimal]
    substitution_basis: Mapped[str]
    substitution_scope: Mapped[str]
    support_basis: Mapped[str]
    support_scope: Mapped[str | None]


class FreeFormatItemRow(OrmBase):
    __tablename__ = "free_format_items"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "company_id"],
            ["billing_groups.organisation_id", "billing_groups.company_id"],
        ),
    )

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    company_id: Mapped[str] = mapped_column(primary_key=True)
    vendor: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    enabled: Mapped[bool]
    label: Mapped[str]
    unit_cost: Mapped[Decimal]
    quantity: Mapped[Decimal]
    total: Mapped[Decimal]


class CloudAccountRow(OrmBase):
    __tablename__ = "cloud_accounts"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "company_id"],
            ["billing_groups.organisation_id", "billing_groups.company_id"],
        ),
    )

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[str] = mapped_column(primary_key=True)
    vendor: Mapped[str]
    account_id: Mapped[str]
    company_id: Mapped[str]
    name: Mapped[str]
    note: Mapped[str | None]

    group: Mapped["BillingGroupRow"] = relationship(viewonly=True)

    @property
    def payer(self) -> bool:
        return self.customer_id == self.account_id

    @property
    def billinggroup_id(self) -> str:
        return self.group.billinggroup_id

    @property
    def billinggroup_name(self) -> str:
        return self.group.billinggroup_name

    @property
    def project_id(self) -> str | None:
        return self.group.project_id


class BillingGroupRow(OrmBase):
    __tablename__ = "billing_groups"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organisation_id", "project_id"], ["projects.organisation_id", "projects.project_id"]
        ),
    )

    organisation_id: Mapped[str] = mapped_column(primary_key=True)
    company_id: Mapped[str] = mapped_column(primary_key=True)
    billinggroup_id: Mapped[str]
    billinggroup_name: Mapped[str]
    company_name: Mapped[str]
    phone: Mapped[str | None]
    postal: Mapped[str | None]
    address: Mapped[str | None]
    billing_title: Mapped[str | None]
    personal: Mapped[str | None]
    remarks: Mapped[str | None]
    inv_aggregate: Mapped[bool]
    project_id: Mapped[str | None]
    invoice_template_id: Mapped[str | None]
    language: Mapped[str | None]
    create_time: Mapped[datetime] = mapped_column(server_default=func.now())

    settings: Mapped[list[InvoiceSettingRow]] = relationship(order_by=InvoiceSettingRow.vendor)
    items: Mapped[list[FreeFormatItemRow]] = relationship(order_by=FreeFormatItemRow.position)
    account: Mapped[list[CloudAccountRow]] = relationship(
        order_by=(CloudAccountRow.vendor, CloudAccountRow.customer_id), viewonly=True
    )
    project: Mapped[ProjectRow | None] = relationship(viewonly=True)

    @property
    def additional_items(self) -> dict[str, list[FreeFormatItemRow]]:
        items: dict[str, list[FreeFormatItemRow]] = {}
        for item in self.items:
            items.setdefault(item.vendor, []).append(item)
        return items

    @property
    def invoices(self) -> dict[str, InvoiceSettingRow]:
        return {setting.vendor: setting for setting in self.settings}

    @property
    def project_code(self) -> str | None:
        return self.project.project_code if self.project else None

    @property
    def project_label(self) -> str | None:
        return self.project.project_label if self.project else None

    @property
    def project_currency(self) -> str | None:
        return self.project.project_currency if self.project else None
