// The form of an object that two people may edit: what was loaded, what was typed, which version it was.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { ApiError, PathWith, RequestOptions, ResponseOf } from "../api/client.ts";
import { useClient } from "../api/queries.ts";

/** An object with the version that a change of it must name. */
export interface Versioned<T> {
  data: T;
  version: string | undefined;
}

export function useVersioned<P extends PathWith<"get">>(path: P, options: RequestOptions = {}) {
  const client = useClient();
  return useQuery<Versioned<ResponseOf<"get", P>>, ApiError>({
    queryKey: [path, options.path ?? {}, options.query ?? {}, "version"],
    queryFn: async ({ signal }) => {
      const { data, headers } = await client.fetch("GET", path, { ...options, signal });
      return {
        data: data as ResponseOf<"get", P>,
        version: headers.get("etag") ?? undefined,
      };
    },
  });
}

export interface Editing<F> {
  form: F;
  change: (part: Partial<F>) => void;
  changed: boolean;
  /** The version that the person has seen. */
  version: string | undefined;
  /** What the service has now, which somebody else may have saved. */
  latest: { form: F; version: string | undefined };
  /** Whether somebody else has changed a field of this form. */
  overtaken: boolean;
  /** Gives up what was typed. */
  reset: () => void;
}

/** Takes over what is loaded anew unless the person has typed something else. */
export function useEditing<T, F extends object>(
  loaded: Versioned<T>,
  read: (data: T) => F,
): Editing<F> {
  const [base, setBase] = useState(loaded);
  const [form, setForm] = useState(() => read(loaded.data));
  const latest = read(loaded.data);
  const changed = !isSame(form, read(base.data));
  const saved = isSame(form, latest);
  useEffect(() => {
    if (loaded === base || (changed && !saved)) return;
    setBase(loaded);
    setForm(read(loaded.data));
  }, [loaded, base, changed, saved, read]);
  return {
    form,
    change: useCallback((part: Partial<F>) => setForm((typed) => ({ ...typed, ...part })), []),
    changed,
    version: base.version,
    latest: { form: latest, version: loaded.version },
    overtaken: !isSame(latest, read(base.data)),
    reset: () => {
      setBase(loaded);
      setForm(read(loaded.data));
    },
  };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
