// A QR code as SVG elements, which the content security policy allows.
import { useMemo } from "react";
import { buildQrPath } from "./qr-path.ts";
import "./qr-code.css";

export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => buildQrPath(text), [text]);
  return (
    <svg
      className="qr-code"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  );
}
