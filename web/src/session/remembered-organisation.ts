// The organisation that was used last in this browser, so that it need not be typed again.
const KEY = "nimbill-organisation";

export function readOrganisation(): string {
  return localStorage.getItem(KEY) ?? "";
}

export function rememberOrganisation(organisation: string): void {
  localStorage.setItem(KEY, organisation);
}
