// Sends files or the name of a storage location, and says how far the upload is.
import { Trans, useLingui } from "@lingui/react/macro";
import { useRef, useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";

interface NewImport {
  vendor: string;
  month: string;
  files?: readonly File[];
  source?: string;
}

export function useStartImport(onStarted: () => void) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [share, setShare] = useState(0);
  const stopper = useRef(new AbortController());
  const change = useChange(
    (client, { vendor, month, files, source }: NewImport) => {
      setShare(0);
      stopper.current = new AbortController();
      return client.post("/m/core/costs/imports", {
        idempotencyKey: crypto.randomUUID(),
        signal: stopper.current.signal,
        ...(files === undefined
          ? { body: { vendor, source, ...(month !== "" && { month }) } }
          : { body: buildForm(vendor, month, files), onProgress: setShare }),
      });
    },
    {
      onSuccess: ({ import_id }) => {
        notify({
          type: "success",
          content: (
            <>
              {t`The import has started. It continues when you leave this page.`}{" "}
              <RouterLink to={`/imports/${import_id}`} color="inverted">
                <Trans>See the import</Trans>
              </RouterLink>
            </>
          ),
        });
        onStarted();
      },
    },
  );
  const stopped = (change.error as Error | null)?.name === "AbortError";
  return {
    mutate: change.mutate,
    isPending: change.isPending,
    error: stopped ? null : change.error,
    share,
    stop: () => stopper.current.abort(),
  };
}

function buildForm(vendor: string, month: string, files: readonly File[]): FormData {
  const form = new FormData();
  form.set("vendor", vendor);
  if (month !== "") form.set("month", month);
  for (const file of files) form.append("file", file, file.name);
  return form;
}
