// Chooses the customer of one account or of several.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useApi } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { formatVendor } from "../../../components/vendor.ts";
import { type GroupChoice, GroupSelect } from "../../group-select.tsx";
import { type AccountToAssign, useAssign } from "./assign.tsx";

const SHOWN = 5;

interface AssignDialogProps {
  vendor: string;
  month?: string;
  accounts: readonly AccountToAssign[];
  /** A new account gets a name, which is printed on invoices. */
  isNew?: boolean;
  suggested?: GroupChoice | undefined;
  onEnd: (done: boolean) => void;
}

export function AssignDialog(props: AssignDialogProps) {
  const { vendor, month = "", accounts, isNew = false, onEnd } = props;
  const { t } = useLingui();
  const [first] = accounts;
  const single = accounts.length === 1 ? first : undefined;
  const [group, setGroup] = useState(props.suggested);
  const [name, setName] = useState(single?.name ?? single?.customer_id ?? "");
  const assign = useAssign(vendor, month, () => onEnd(true));
  const fieldErrors = useFieldErrors(assign.error);
  const namesOne = isNew && single !== undefined;
  const length = name.trim().length;
  const valid = !namesOne || (length >= 3 && length <= 100);
  const save = () => {
    if (group === undefined) return;
    const sent = namesOne ? [{ ...single, name: name.trim() }] : accounts;
    assign.mutate({ group, accounts: sent });
  };
  const count = accounts.length;
  return (
    <ConfirmDialog
      title={t`Assign ${plural(count, { one: "# account", other: "# accounts" })} to a customer`}
      action={t`Assign`}
      busy={assign.isPending}
      error={assign.error}
      ready={group !== undefined && valid}
      onConfirm={save}
      onCancel={() => onEnd(false)}
    >
      <SpaceBetween size="m">
        <AccountSummary accounts={accounts} />
        <FormField label={t`Customer`} errorText={fieldErrors("company_id")}>
          <GroupSelect value={group} onChange={setGroup} />
        </FormField>
        {group !== undefined && <MissingTerms group={group} vendor={vendor} />}
        {namesOne && (
          <FormField
            label={t`Name of the account`}
            description={t`It is printed on the invoice.`}
            errorText={valid ? fieldErrors("name") : t`3 to 100 characters`}
          >
            <Input value={name} onChange={({ detail }) => setName(detail.value)} />
          </FormField>
        )}
        <Box color="text-body-secondary">
          <Trans>
            The costs of every month that is not closed are billed to this customer when its
            invoices are created.
          </Trans>
        </Box>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

/** Costs of a customer without terms for the vendor are on no invoice. */
function MissingTerms({ group, vendor }: { group: GroupChoice; vendor: string }) {
  const { t } = useLingui();
  const { company_id, billinggroup_name } = group;
  const found = useApi("/m/core/billinggroup/{company_id}/resource", { path: { company_id } });
  if (found.data === undefined || vendor in found.data.invoices) return null;
  const name = formatVendor(vendor);
  return (
    <Alert type="warning" header={t`${billinggroup_name} has no terms for ${name}`}>
      <Trans>Nothing is billed to this customer until they are set.</Trans>{" "}
      <RouterLink to={`/customers/${company_id}/terms/${vendor}`}>
        <Trans>Set the terms</Trans>
      </RouterLink>
    </Alert>
  );
}

function AccountSummary({ accounts }: { accounts: readonly AccountToAssign[] }) {
  const more = accounts.length - SHOWN;
  return (
    <div>
      <ul className="plain-list">
        {accounts.slice(0, SHOWN).map(({ customer_id, name }) => (
          <li key={customer_id}>
            {customer_id} {name}
          </li>
        ))}
      </ul>
      {more > 0 && (
        <Box color="text-body-secondary">
          <Trans>and {more} more</Trans>
        </Box>
      )}
    </div>
  );
}
