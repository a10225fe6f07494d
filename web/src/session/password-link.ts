// The mailed link with which a person chooses a password.

export interface PasswordLink {
  organisation: string;
  token: string;
}

const PAGE = "/choose-password";

/** The link that the address names; empty texts if parts are missing, undefined on other pages. */
export function parsePasswordLink(pathname: string, hash: string): PasswordLink | undefined {
  if (!pathname.replace(/\/$/, "").endsWith(PAGE)) return undefined;
  const values = new URLSearchParams(hash.replace(/^#/, ""));
  return { organisation: values.get("organisation") ?? "", token: values.get("token") ?? "" };
}

/** Reads the link and removes the token from the address bar and the history. */
export function takePasswordLink(): PasswordLink | undefined {
  const link = parsePasswordLink(location.pathname, location.hash);
  if (link !== undefined) {
    const start = location.pathname.split(PAGE)[0] || "/";
    history.replaceState(null, "", start);
  }
  return link;
}
