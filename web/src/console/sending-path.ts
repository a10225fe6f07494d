// The way back to the page that sends the invoices of a month, as other pages carry it.

/** The value of `back` if it is the address of a sending page; any other address is ignored. */
export function readSendingPath(back: string | null): string | undefined {
  return back !== null && /^\/sending\/\d{4}-\d{2}\/[a-z]+$/.test(back) ? back : undefined;
}

/** An address with the way back to a sending page. */
export function addSendingPath(path: string, month: string, vendor: string): string {
  return `${path}&back=${encodeURIComponent(`/sending/${month}/${vendor}`)}`;
}
