// A view of the portal by a member of staff. It lives in one tab and leaves sessions alone.
export interface StaffView {
  viewId: string;
  token: string;
}

const KEY = "nimbill-view";

/** The view that the console has put into this tab. */
export function readStaffView(): StaffView | undefined {
  const stored = sessionStorage.getItem(KEY);
  return stored === null ? undefined : (JSON.parse(stored) as StaffView);
}

export function forgetStaffView(): void {
  sessionStorage.removeItem(KEY);
}

/** Opens the portal in an empty tab of the same site; the token is in no address. */
export function showStaffView(tab: Window, view: StaffView): void {
  tab.sessionStorage.setItem(KEY, JSON.stringify(view));
  tab.location.replace("/portal");
}
