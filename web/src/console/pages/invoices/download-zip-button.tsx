// Downloads all printed invoices of a month as one archive.
import Button from "@cloudscape-design/components/button";
import { Trans } from "@lingui/react/macro";
import { useDownload } from "../../../components/download.ts";

export function DownloadZipButton({ month, vendor }: { month: string; vendor: string }) {
  const download = useDownload();
  return (
    <Button
      iconName="download"
      loading={download.isPending}
      onClick={() =>
        download.mutate({
          address: "/m/core/invoices/{month}/zip",
          name: `invoices-${month}-${vendor}.zip`,
          path: { month },
          query: { vendor },
        })
      }
    >
      <Trans>All PDFs</Trans>
    </Button>
  );
}
