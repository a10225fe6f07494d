// Shows a PDF in the viewer of the browser.
import { useEffect, useState } from "react";
import "./pdf-viewer.css";

export const PDF = "application/pdf";

export function PdfViewer({ file, title }: { file: Blob; title: string }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const created = URL.createObjectURL(new Blob([file], { type: PDF }));
    setAddress(created);
    return () => URL.revokeObjectURL(created);
  }, [file]);
  return (
    <iframe
      className="printed-invoice"
      title={title}
      src={address && `${address}#toolbar=0&navpanes=0&view=FitH`}
    />
  );
}
