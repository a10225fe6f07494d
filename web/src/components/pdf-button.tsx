// Saves a printed document that is read when it is asked for.
import Button from "@cloudscape-design/components/button";
import type { PathWith } from "../api/client.ts";
import { useDownload } from "./download.ts";

interface PdfButtonProps {
  address: PathWith<"get">;
  path: Record<string, string>;
  /** The name of the file, without its ending. */
  name: string;
  label: string;
}

export function PdfButton({ address, path, name, label }: PdfButtonProps) {
  const download = useDownload();
  return (
    <Button
      variant="icon"
      iconName="download"
      ariaLabel={label}
      loading={download.isPending}
      onClick={() => download.mutate({ address, path, name: `${name}.pdf` })}
    />
  );
}
