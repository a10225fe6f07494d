// Shows the accounts of one customer; the address carries its id alone.
import { useLingui } from "@lingui/react/macro";
import { useApi } from "../../../api/queries.ts";
import { GroupSelect } from "../../group-select.tsx";
import { useMay } from "../../me.ts";

interface GroupFilterProps {
  companyId: string;
  onChange: (companyId: string) => void;
}

export function GroupFilter({ companyId, onChange }: GroupFilterProps) {
  const { t } = useLingui();
  const may = useMay();
  const mayRead = may("ReadBillingGroup", "ModifyBillingGroup");
  const found = useApi(
    "/m/core/billinggroup",
    { query: { search: companyId, limit: 5 } },
    { enabled: companyId !== "" && mayRead, staleTime: 60_000 },
  );
  if (!mayRead) return null;
  return (
    <GroupSelect
      label={t`Customer`}
      all={t`All customers`}
      value={
        companyId === "" ? undefined : found.data?.find((group) => group.company_id === companyId)
      }
      onChange={(group) => onChange(group?.company_id ?? "")}
    />
  );
}
