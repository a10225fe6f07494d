// Downloads all printed invoices of a month as one archive.
import Button from "@cloudscape-design/components/button";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { type ApiClient, ApiError } from "../../../api/client.ts";
import { saveFile } from "../../../components/csv.ts";
import { useNotifications } from "../../../components/notifications.tsx";

interface DownloadZipButtonProps {
  client: ApiClient;
  month: string;
  vendor: string;
}

export function DownloadZipButton({ client, month, vendor }: DownloadZipButtonProps) {
  const { notifyError } = useNotifications();
  const [busy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const response = await client.download("GET", "/m/core/invoices/{month}/zip", {
        path: { month },
        query: { vendor },
      });
      saveFile(await response.blob(), `invoices-${month}-${vendor}.zip`, "application/zip");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      notifyError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button iconName="download" loading={busy} onClick={download}>
      <Trans>All PDFs</Trans>
    </Button>
  );
}
