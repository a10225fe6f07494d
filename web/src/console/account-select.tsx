// Chooses a registered account; the service searches among them.
import Select from "@cloudscape-design/components/select";
import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../api/queries.ts";
import type { components } from "../api/schema.ts";

export type Account = components["schemas"]["CloudAccountRecord"];

interface AccountSelectProps {
  vendor: string;
  value: Account | undefined;
  onChange: (account: Account | undefined) => void;
  /** Numbers that cannot be chosen. */
  except?: readonly string[];
}

export function AccountSelect({ vendor, value, onChange, except = [] }: AccountSelectProps) {
  const { t } = useLingui();
  const [search, setSearch] = useState("");
  const accounts = useApi(
    "/m/core/accts",
    { query: { vendor, search, limit: 50 } },
    { placeholderData: keepPreviousData, staleTime: 30_000 },
  );
  const found = (accounts.data ?? []).filter((each) => !except.includes(each.customer_id));
  return (
    <Select
      selectedOption={value === undefined ? null : describe(value)}
      options={found.map(describe)}
      placeholder={t`Choose an account`}
      filteringType="manual"
      filteringPlaceholder={t`Name or number of the account`}
      filteringAriaLabel={t`Name or number of the account`}
      statusType={accounts.error ? "error" : accounts.isFetching ? "loading" : "finished"}
      loadingText={t`Loading`}
      errorText={t`This could not be loaded.`}
      recoveryText={t`Try again`}
      empty={t`Nothing found`}
      finishedText={found.length >= 49 ? t`Type more letters to find others.` : ""}
      onLoadItems={({ detail }) => {
        setSearch(detail.filteringText);
        if (accounts.error) accounts.refetch();
      }}
      onChange={({ detail }) =>
        onChange(found.find((each) => each.customer_id === detail.selectedOption.value))
      }
      expandToViewport
    />
  );
}

function describe(account: Account) {
  return {
    value: account.customer_id,
    label: account.customer_name,
    labelTag: account.customer_id,
    description: account.billinggroup_name,
  };
}
