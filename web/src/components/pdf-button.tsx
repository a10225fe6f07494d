// Saves a printed document that is read when it is asked for.
import Button from "@cloudscape-design/components/button";
import { useState } from "react";
import type { ApiError, PathWith } from "../api/client.ts";
import { useClient } from "../api/queries.ts";
import { saveFile } from "./csv.ts";
import { useNotifications } from "./notifications.tsx";
import { PDF } from "./pdf-viewer.tsx";

interface PdfButtonProps {
  address: PathWith<"get">;
  path: Record<string, string>;
  /** The name of the file, without its ending. */
  name: string;
  label: string;
}

export function PdfButton({ address, path, name, label }: PdfButtonProps) {
  const client = useClient();
  const { notifyError } = useNotifications();
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const response = await client.download("GET", address, { path });
      saveFile(await response.blob(), `${name}.pdf`, PDF);
    } catch (error) {
      notifyError(error as ApiError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      variant="icon"
      iconName="download"
      ariaLabel={label}
      loading={busy}
      onClick={() => void save()}
    />
  );
}
