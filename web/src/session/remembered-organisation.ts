// The organisation that the address names or that was used last in this browser, so that it need not be typed.
const KEY = "nimbill-organisation";

export function readOrganisation(): string {
  const named = new URLSearchParams(location.search).get("organisation");
  return named ?? localStorage.getItem(KEY) ?? "";
}

export function rememberOrganisation(organisation: string): void {
  localStorage.setItem(KEY, organisation);
}
