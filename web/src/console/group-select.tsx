// Chooses a billing group; the service searches among them.
import Select from "@cloudscape-design/components/select";
import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../api/queries.ts";

export interface GroupChoice {
  company_id: string;
  billinggroup_id: string;
  billinggroup_name: string;
}

interface GroupSelectProps {
  value: GroupChoice | undefined;
  onChange: (group: GroupChoice | undefined) => void;
  /** The text of the choice of all groups, if that is possible. */
  all?: string;
  label?: string;
  invalid?: boolean;
}

export function GroupSelect({ value, onChange, all, label, invalid = false }: GroupSelectProps) {
  const { t } = useLingui();
  const [search, setSearch] = useState("");
  const groups = useApi(
    "/m/core/billinggroup",
    { query: { search, limit: 50, sort: "billinggroup_name" } },
    { placeholderData: keepPreviousData, staleTime: 30_000 },
  );
  const found = groups.data ?? [];
  const options = found.map(describe);
  const everyone = { value: "", label: all ?? "" };
  return (
    <Select
      {...(label !== undefined && { ariaLabel: label })}
      invalid={invalid}
      selectedOption={value === undefined ? (all === undefined ? null : everyone) : describe(value)}
      options={all === undefined || search !== "" ? options : [everyone, ...options]}
      placeholder={t`Choose a customer`}
      filteringType="manual"
      filteringPlaceholder={t`Name or id of the customer`}
      filteringAriaLabel={t`Name or id of the customer`}
      statusType={groups.error ? "error" : groups.isFetching ? "loading" : "finished"}
      loadingText={t`Loading`}
      errorText={t`This could not be loaded.`}
      recoveryText={t`Try again`}
      empty={t`Nothing found`}
      finishedText={found.length === 50 ? t`Type more letters to find others.` : ""}
      onLoadItems={({ detail }) => {
        setSearch(detail.filteringText);
        if (groups.error) groups.refetch();
      }}
      onChange={({ detail }) =>
        onChange(found.find((group) => group.company_id === detail.selectedOption.value))
      }
      expandToViewport
    />
  );
}

function describe(group: GroupChoice) {
  return {
    value: group.company_id,
    label: group.billinggroup_name,
    description: group.billinggroup_id,
  };
}
