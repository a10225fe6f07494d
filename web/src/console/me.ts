// Who uses the console, and what they may do.
import { useApi } from "../api/queries.ts";
import type { components } from "../api/schema.ts";

export type SignedInUser = components["schemas"]["SignedInUser"];

export function useMe() {
  return useApi("/m/core/me", {}, { staleTime: 60_000 });
}

/** Whether the person has any of the role actions. Pages hide what is false; the service refuses it. */
export function useMay(): (...actions: string[]) => boolean {
  const permissions = useMe().data?.permissions;
  return (...actions) => actions.some((action) => permissions?.includes(action) ?? false);
}

/** The time zone of the organisation, in which people choose times. */
export function useTimeZone(): string {
  return useMe().data?.time_zone ?? "UTC";
}
