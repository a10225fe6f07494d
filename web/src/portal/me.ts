// Who uses the portal, and what the reseller shows them.
import { useApi } from "../api/queries.ts";
import { currentMonth } from "../components/month.ts";
import { useSession } from "../session/session.tsx";

export function useMe() {
  return useApi("/m/portal/me", {}, { staleTime: 60_000 });
}

/** The month that pages show first: the newest one for which costs have arrived. */
export function useNewestMonth(): string {
  return useMe().data?.newest_month ?? currentMonth();
}

/** Whether one of the display flags is on. Pages hide what is off; the service refuses it. */
export function useFlag(): (...names: string[]) => boolean {
  const flags = useMe().data?.flags;
  return (...names) => names.some((name) => flags?.[name] ?? false);
}

/** Whether the person has any of the role actions. */
export function useMay(): (...actions: string[]) => boolean {
  const permissions = useMe().data?.permissions;
  return (...actions) => actions.some((action) => permissions?.includes(action) ?? false);
}

/** Whether the person may change something with any of the role actions; in a view of staff nobody may. */
export function useMayChange(): (...actions: string[]) => boolean {
  const may = useMay();
  const { viewing } = useSession();
  return (...actions) => !viewing && may(...actions);
}
