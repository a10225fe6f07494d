// Explains a stored tax that a change of terms may not name, and offers the setting that allows it.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { useMay } from "../../me.ts";
import type { TermsForm, UpdateMode } from "./terms-model.ts";

export function RefusedValues({ form, mode }: { form: TermsForm; mode: UpdateMode }) {
  const { t } = useLingui();
  const may = useMay();
  const { notify, notifyError } = useNotifications();
  const allow = useChange(
    (client) => client.put("/m/core/settings", { body: { invoice_setting_update: "either" } }),
    {
      onSuccess: () => notify({ type: "success", content: t`A tax of 10% can be saved now.` }),
      onError: notifyError,
    },
  );
  // Only the whole percentages above the limit exist as tax rates.
  if (mode === "either" || !/^(9|10)(\.|$)/.test(form.tax.trim())) return null;
  return (
    <Alert
      type="warning"
      header={t`A tax of 10% cannot be saved yet.`}
      action={
        may("ModifySettings") && (
          <Button loading={allow.isPending} onClick={() => allow.mutate(undefined)}>
            <Trans>Allow 10%</Trans>
          </Button>
        )
      }
    >
      <Trans>
        The organisation settings accept at most 8% when terms are changed. The setting that accepts
        the values of new customers too allows 10%.
      </Trans>
    </Alert>
  );
}
