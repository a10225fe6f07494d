// The lines that we add to every invoice of a customer, for each vendor.
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { Versioned } from "../../../components/editing.ts";
import { formatVendor } from "../../../components/vendor.ts";
import { useMe } from "../../me.ts";
import type { BillingGroup } from "./customer-page.tsx";
import { ItemsEditor } from "./items-editor.tsx";

export function FreeFormatItems({ loaded }: { loaded: Versioned<BillingGroup> }) {
  const { t } = useLingui();
  const used = Object.keys(loaded.data.additional_items);
  const vendors = [...new Set([...(useMe().data?.vendors ?? []), ...used])];
  const [vendor, setVendor] = useState(used[0] ?? vendors[0] ?? "aws");
  return (
    <SpaceBetween size="m">
      <SegmentedControl
        label={t`Vendor`}
        selectedId={vendor}
        options={vendors.map((id) => ({ id, text: formatVendor(id) }))}
        onChange={({ detail }) => setVendor(detail.selectedId)}
      />
      <ItemsEditor key={vendor} loaded={loaded} vendor={vendor} />
    </SpaceBetween>
  );
}
