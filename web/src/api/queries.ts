// Reads from the API through the query cache.
import {
  keepPreviousData,
  type UseMutationOptions,
  type UseQueryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { type ReadAllRows, readInParts } from "./all-rows.ts";
import type { ApiClient, ApiError, PathWith, RequestOptions, ResponseOf } from "./client.ts";

/** Begins the keys of printed invoices by revision. */
export const PRINTED = "printed invoice";

const ClientContext = createContext<ApiClient | undefined>(undefined);
export const ClientProvider = ClientContext.Provider;

export function useClient(): ApiClient {
  const client = useContext(ClientContext);
  if (client === undefined) throw new Error("useClient needs a ClientProvider");
  return client;
}

type Options<T> = Omit<UseQueryOptions<T, ApiError>, "queryKey" | "queryFn">;

/** Reads a path. Changes to it are announced with `useInvalidate`. */
export function useApi<P extends PathWith<"get">>(
  path: P,
  options: RequestOptions = {},
  query: Options<ResponseOf<"get", P>> = {},
) {
  const client = useClient();
  return useQuery<ResponseOf<"get", P>, ApiError>({
    queryKey: [path, options.path ?? {}, options.query ?? {}],
    queryFn: ({ signal }) => client.get(path, { ...options, signal }),
    ...query,
  });
}

interface Page<T> {
  data: T;
  total: number | undefined;
}

/** A page of a list, and how many rows the whole list has. The last page stays while the next one loads. */
export function useApiPage<P extends PathWith<"get">>(
  path: P,
  options: RequestOptions = {},
  query: Options<Page<ResponseOf<"get", P>>> = {},
) {
  const client = useClient();
  const shown = useQuery<Page<ResponseOf<"get", P>>, ApiError>({
    queryKey: [path, options.path ?? {}, options.query ?? {}, "page"],
    queryFn: async ({ signal }) => {
      const { data, headers } = await client.fetch("GET", path, { ...options, signal });
      const total = headers.get("x-total-count");
      return {
        data: data as ResponseOf<"get", P>,
        total: total === null ? undefined : Number(total),
      };
    },
    placeholderData: keepPreviousData,
    ...query,
  });
  const readAll = useReadAll(path, options, (rows) => rows as unknown as readonly RowOf<P>[]);
  return { ...shown, readAll };
}

/** A row of a list, if the response is one. */
type RowOf<P extends PathWith<"get">> =
  ResponseOf<"get", P> extends readonly (infer T)[] ? T : never;

/** Reads every page of a list, with the filters and the order of the shown one. */
export function useReadAll<P extends PathWith<"get">, T>(
  path: P,
  options: RequestOptions,
  selectRows: (response: ResponseOf<"get", P>) => readonly T[],
): ReadAllRows<T> {
  const client = useClient();
  return readInParts(async (limit, offset, signal) => {
    const query = { ...options.query, limit, offset };
    return selectRows(await client.get(path, { ...options, query, signal }));
  });
}

/** Changes something, then reads every shown path again. */
export function useChange<V, T = unknown>(
  change: (client: ApiClient, variables: V) => Promise<T>,
  {
    gone,
    ...options
  }: UseMutationOptions<T, ApiError, V> & {
    /** The id of a record that the change deletes: what was read of it is not read again. */
    gone?: string;
  } = {},
) {
  const client = useClient();
  const cache = useQueryClient();
  return useMutation<T, ApiError, V>({
    ...options,
    mutationFn: (variables) => change(client, variables),
    onSuccess: async (...rest) => {
      await cache.invalidateQueries({
        // a printed invoice never changes, and its viewer would start again
        predicate: ({ queryKey }) =>
          queryKey[0] !== PRINTED && !Object.values(queryKey[1] ?? {}).includes(gone),
      });
      await options.onSuccess?.(...rest);
    },
  });
}
