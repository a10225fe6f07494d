// The customers' accounts at the vendors, and those that belong to nobody yet.
import Badge from "@cloudscape-design/components/badge";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { type ListControl, useListState } from "../../../components/list-state.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { useVendors, VendorChoice } from "../../choices.tsx";
import { RegisteredAccounts } from "./registered-accounts.tsx";
import { UnassignedAccounts } from "./unassigned-accounts.tsx";

export default function AccountsPage() {
  const { t } = useLingui();
  const control = useListState();
  const vendors = useVendors();
  const vendor = control.filter("vendor") || (vendors[0] ?? "");
  const unassigned = control.filter("unassigned") === "true";
  return (
    <>
      <PageTitle title={t`Accounts`} />
      {unassigned ? (
        <UnassignedAccounts control={control} vendor={vendor} />
      ) : (
        <RegisteredAccounts control={control} vendor={vendor} />
      )}
    </>
  );
}

interface AccountFiltersProps {
  control: ListControl;
  vendor: string;
  /** Called before another list is shown. */
  onChange: () => void;
}

/** Which list is shown, and of which vendor. */
export function AccountFilters({ control, vendor, onChange }: AccountFiltersProps) {
  const { t } = useLingui();
  const choose = (name: string, value: string) => {
    onChange();
    control.setFilter(name, value);
  };
  return (
    <SpaceBetween direction="horizontal" size="xs" alignItems="end">
      <SegmentedControl
        label={t`Show`}
        selectedId={control.filter("unassigned") === "true" ? "unassigned" : "registered"}
        options={[
          { id: "registered", text: t`With a customer` },
          { id: "unassigned", text: t`Belong to nobody` },
        ]}
        onChange={({ detail }) =>
          choose("unassigned", detail.selectedId === "unassigned" ? "true" : "")
        }
      />
      <VendorChoice value={vendor} onChange={(value) => choose("vendor", value)} />
    </SpaceBetween>
  );
}

export function PayerBadge() {
  const { t } = useLingui();
  return <Badge color="blue">{t`Payer`}</Badge>;
}
