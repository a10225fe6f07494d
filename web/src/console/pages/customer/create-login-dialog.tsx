// Creates a portal login of a customer.
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import type { BillingGroup } from "./customer-page.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { LoginFlags } from "./login-flags.tsx";
import {
  isPasswordReady,
  NEW_PASSWORD,
  PasswordFields,
  ShownPassword,
  writePassword,
} from "./password-fields.tsx";

/** What a new login sees: usage and invoices. */
const NEW_FLAGS: Record<string, boolean> = {
  dashboard_graph: true,
  usage_account: true,
  usage_account_graph: true,
  usage_report_download: true,
  usage_group: true,
  usage_group_graph: true,
  usage_tag: true,
  usage_tag_graph: true,
  usage_crosstag: true,
  usage_crosstag_graph: true,
  ri_purchased: true,
  invoice: true,
};

export function CreateLoginDialog({ group, onEnd }: { group: BillingGroup; onEnd: () => void }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { notify } = useNotifications();
  const [email, setEmail] = useState("");
  const [choice, setChoice] = useState(NEW_PASSWORD);
  const [meta, setMeta] = useState(NEW_FLAGS);
  const [shown, setShown] = useState<string>();
  const save = useChange(
    (client) =>
      client.post("/m/core/reseller", {
        body: { email: email.trim(), company_id: group.company_id, meta, ...writePassword(choice) },
      }),
    {
      onSuccess: (created) => {
        notify({ type: "success", content: t`${email} can sign in to the portal now.` });
        if ("password" in created && created.password) setShown(created.password);
        else onEnd();
      },
    },
  );
  const refused = useFieldErrors(save.error);
  if (shown !== undefined) return <ShownPassword email={email} password={shown} onEnd={onEnd} />;
  return (
    <FormDialog
      title={t`Portal login for ${group.name}`}
      action={t`Create`}
      busy={save.isPending}
      error={save.error === null ? "" : errorText(save.error)}
      ready={email.includes("@") && isPasswordReady(choice)}
      onSave={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <FormField
        label={t`E-mail address`}
        description={t`It is the name to sign in with.`}
        errorText={refused("email")}
      >
        <Input
          type="email"
          value={email}
          autoFocus
          onChange={({ detail }) => setEmail(detail.value)}
        />
      </FormField>
      <PasswordFields choice={choice} onChange={setChoice} />
      <ExpandableSection headerText={t`What the login sees`}>
        <LoginFlags meta={meta} onChange={setMeta} />
      </ExpandableSection>
    </FormDialog>
  );
}
