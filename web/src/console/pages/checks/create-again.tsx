// Offers to create the invoices of an open month again.
import Button from "@cloudscape-design/components/button";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import { useMay } from "../../me.ts";
import { CreateInvoicesDialog } from "../month/create-invoices-dialog.tsx";

export function CreateAgain({ month, vendor }: { month: string; vendor: string }) {
  const may = useMay();
  const [creating, setCreating] = useState(false);
  const status = useApi("/m/core/months/{month}", { path: { month }, query: { vendor } });
  if (!may("ModifyInvoice") || status.data === undefined) return null;
  if (status.data.state === "closed") return null;
  return (
    <>
      <Button onClick={() => setCreating(true)}>
        <Trans>Create again</Trans>
      </Button>
      {creating && <CreateInvoicesDialog status={status.data} onEnd={() => setCreating(false)} />}
    </>
  );
}
