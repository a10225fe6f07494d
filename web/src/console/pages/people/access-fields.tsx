// The part of a form that chooses what a person may do and for which customers.
import FormField from "@cloudscape-design/components/form-field";
import Link from "@cloudscape-design/components/link";
import Multiselect, { type MultiselectProps } from "@cloudscape-design/components/multiselect";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useHref } from "react-router";
import type { ApiError } from "../../../api/client.ts";
import { useApi, useApiPage } from "../../../api/queries.ts";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { ADMIN, selectSentences, usePermissionAreas } from "../../permission-texts.ts";
import { PermissionSentences } from "./permission-sentences.tsx";

export interface VisibleCustomer {
  company_id: string;
  name: string;
}

export interface AccessChoice {
  /** Names of roles of billing administration. */
  roles: string[];
  /** The customers that the person sees; null means all, also those added later. */
  customers: VisibleCustomer[] | null;
}

const ROLES_MAX = 5;

interface AccessFieldsProps {
  value: AccessChoice;
  onChange: (value: AccessChoice) => void;
  error: ApiError | null;
  disabled: boolean;
}

export function AccessFields({ value, onChange, error, disabled }: AccessFieldsProps) {
  const { t } = useLingui();
  const { customers } = value;
  const fieldErrors = useFieldErrors(error);
  const isEmpty = customers !== null && customers.length === 0;
  return (
    <SpaceBetween size="l">
      <RoleChoice value={value} onChange={onChange} error={error} disabled={disabled} />
      <FormField label={t`Customers`} errorText={fieldErrors("filters")}>
        <RadioGroup
          value={customers === null ? "all" : "some"}
          items={[
            {
              value: "all",
              label: t`All customers`,
              description: t`Also customers that are added later.`,
              disabled,
            },
            {
              value: "some",
              label: t`Only certain customers`,
              description: t`Invoices, costs and accounts of all others stay hidden.`,
              disabled,
            },
          ]}
          onChange={({ detail }) =>
            onChange({ ...value, customers: detail.value === "all" ? null : (customers ?? []) })
          }
        />
      </FormField>
      {customers !== null && (
        <FormField
          label={t`Which customers`}
          constraintText={isEmpty ? t`Choose at least one.` : undefined}
        >
          <CustomerChoice
            chosen={customers}
            disabled={disabled}
            onChange={(chosen) => onChange({ ...value, customers: chosen })}
          />
        </FormField>
      )}
    </SpaceBetween>
  );
}

function RoleChoice({ value, onChange, error, disabled }: AccessFieldsProps) {
  const { t } = useLingui();
  const areas = usePermissionAreas();
  const fieldErrors = useFieldErrors(error);
  const roles = useApi("/m/auth/rbac/roles", { query: { namespace: "core" } });
  const describe = (permissions: string[]) =>
    permissions.includes(ADMIN)
      ? t`may do everything`
      : selectSentences(areas, permissions)
          .flatMap((area) => area.sentences)
          .join(" · ");
  const options = (roles.data ?? []).map(({ name, permissions }) => ({
    value: name,
    label: name,
    description: describe(permissions),
  }));
  const permissions = (roles.data ?? [])
    .filter(({ name }) => value.roles.includes(name))
    .flatMap((role) => role.permissions);
  const status: MultiselectProps["statusType"] = roles.isError
    ? "error"
    : roles.isLoading
      ? "loading"
      : "finished";
  const newRole = useHref("/roles/new");
  return (
    <SpaceBetween size="l">
      <FormField
        label={t`Roles`}
        description={t`A role is a set of permissions. A person may have up to ${ROLES_MAX}.`}
        secondaryControl={
          // in another tab, because what is typed here would be lost
          <Link external href={newRole}>
            <Trans>Create a role</Trans>
          </Link>
        }
        errorText={fieldErrors("roles")}
      >
        <Multiselect
          placeholder={t`Choose roles`}
          ariaLabel={t`Roles`}
          options={options}
          selectedOptions={value.roles.map((name) => ({ value: name, label: name }))}
          statusType={status}
          empty={t`There is no role yet.`}
          errorText={t`The roles could not be loaded.`}
          recoveryText={t`Try again`}
          onLoadItems={() => roles.isError && roles.refetch()}
          deselectAriaLabel={(option) => t`Remove ${option.label ?? ""}`}
          disabled={disabled}
          onChange={({ detail }) =>
            onChange({
              ...value,
              roles: detail.selectedOptions.flatMap((option) => option.value ?? []),
            })
          }
        />
      </FormField>
      {permissions.length > 0 && (
        <FormField label={t`What these roles allow`}>
          <PermissionSentences permissions={permissions} />
        </FormField>
      )}
    </SpaceBetween>
  );
}

interface CustomerChoiceProps {
  chosen: VisibleCustomer[];
  onChange: (chosen: VisibleCustomer[]) => void;
  disabled: boolean;
}

/** Customers by name; the service searches, because there may be thousands. */
function CustomerChoice({ chosen, onChange, disabled }: CustomerChoiceProps) {
  const { t } = useLingui();
  const [search, setSearch] = useState("");
  const groups = useApiPage("/m/core/billinggroup", {
    query: { search, limit: 50, sort: "billinggroup_name" },
  });
  const options = (groups.data?.data ?? []).map((group) => ({
    value: group.company_id,
    label: group.billinggroup_name,
    description: group.billinggroup_id,
  }));
  const more = (groups.data?.total ?? 0) > options.length;
  return (
    <Multiselect
      placeholder={t`Choose customers`}
      ariaLabel={t`Which customers`}
      filteringType="manual"
      filteringPlaceholder={t`Name or number`}
      filteringAriaLabel={t`Name or number`}
      filteringClearAriaLabel={t`Clear`}
      keepOpen
      options={options}
      selectedOptions={chosen.map(({ company_id, name }) => ({ value: company_id, label: name }))}
      statusType={groups.isError ? "error" : groups.isFetching ? "loading" : "finished"}
      finishedText={more ? t`Type more letters to find others.` : ""}
      loadingText={t`Loading`}
      errorText={t`The customers could not be loaded.`}
      recoveryText={t`Try again`}
      empty={t`Nothing found`}
      deselectAriaLabel={(option) => t`Remove ${option.label ?? ""}`}
      disabled={disabled}
      onLoadItems={({ detail }) => {
        if (groups.isError) groups.refetch();
        setSearch(detail.filteringText);
      }}
      onChange={({ detail }) =>
        onChange(
          detail.selectedOptions.map(({ value = "", label = "" }) => ({
            company_id: value,
            name: label,
          })),
        )
      }
    />
  );
}
