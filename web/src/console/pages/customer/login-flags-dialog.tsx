// Chooses what a portal login sees.
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { FormDialog } from "./form-dialog.tsx";
import { LoginFlags } from "./login-flags.tsx";
import type { PortalLogin } from "./portal-logins.tsx";

export function LoginFlagsDialog({ login, onEnd }: { login: PortalLogin; onEnd: () => void }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { notify } = useNotifications();
  const [meta, setMeta] = useState(login.meta);
  const changes = Object.fromEntries(
    Object.entries(meta).filter(([name, value]) => login.meta[name] !== value),
  );
  const save = useChange(
    (client) =>
      client.put("/m/core/reseller/{user_id}/meta", {
        path: { user_id: login.user_id },
        body: { meta: changes },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`What ${login.email} sees was saved.` });
        onEnd();
      },
    },
  );
  return (
    <FormDialog
      title={t`What ${login.email} sees in the portal`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error === null ? "" : errorText(save.error)}
      ready={Object.keys(changes).length > 0}
      onSave={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <LoginFlags meta={meta} onChange={setMeta} />
    </FormDialog>
  );
}
