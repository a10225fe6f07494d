// Opens the portal in a new tab, as a customer sees it.
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { ApiError } from "../../../api/client.ts";
import { useClient } from "../../../api/queries.ts";
import { showStaffView } from "../../../api/staff-view.ts";
import { useNotifications } from "../../../components/notifications.tsx";

interface ViewPortal {
  /** `login` is the user_id of one of the customer's logins; without it, the oldest is used. */
  open: (company: string, login?: string) => Promise<void>;
  busy: boolean;
}

export function useViewPortal(): ViewPortal {
  const { t } = useLingui();
  const client = useClient();
  const { notify, notifyError } = useNotifications();
  const [busy, setBusy] = useState(false);
  const open = async (company: string, login?: string) => {
    // Browsers open a tab only while they handle the click, so it is opened before the request.
    const tab = window.open("about:blank");
    if (tab === null) {
      notify({ type: "error", content: t`The browser has blocked the new tab. Allow it here.` });
      return;
    }
    setBusy(true);
    try {
      const view = await client.post("/m/core/portal-views", {
        body: { company_id: company, ...(login !== undefined && { user_id: login }) },
      });
      showStaffView(tab, { viewId: view.view_id, token: view.access_token });
    } catch (refusal) {
      tab.close();
      if (!(refusal instanceof ApiError)) throw refusal;
      notifyError(refusal);
    } finally {
      setBusy(false);
    }
  };
  return { open, busy };
}
