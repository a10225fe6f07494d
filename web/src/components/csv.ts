// Writes what a table shows as a CSV file.

/** The content as spreadsheets read it: UTF-8 with a byte order mark, cells that start a formula made text. */
export function formatCSV(rows: readonly (readonly string[])[]): string {
  return `\ufeff${rows.map((row) => row.map(formatCell).join(",")).join("\r\n")}\r\n`;
}

function formatCell(text: string): string {
  const isNumber = /^-?[\d,]+(\.\d+)?$/.test(text);
  const safe = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function saveFile(content: BlobPart, name: string, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
