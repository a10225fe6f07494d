// The page, order, search and filters of a list, kept in the address of the page.
import { useCallback, useMemo } from "react";
import { useSearchParams } from "react-router";

export interface ListState {
  page: number;
  search: string;
  sort: string;
  descending: boolean;
}

export interface ListControl {
  state: ListState;
  change: (part: Partial<ListState>) => void;
  /** A filter of this list that the address carries under its own name. */
  filter: (name: string) => string;
  setFilter: (name: string, value: string) => void;
  /** Changes several filters at once. */
  setFilters: (values: Record<string, string>) => void;
}

export function useListState(defaultSort = "", descending = false): ListControl {
  const [params, setParams] = useSearchParams();
  const state = useMemo<ListState>(() => {
    const sort = params.get("sort") ?? (descending ? `-${defaultSort}` : defaultSort);
    return {
      page: Math.max(1, Number(params.get("page")) || 1),
      search: params.get("search") ?? "",
      sort: sort.replace(/^-/, ""),
      descending: sort.startsWith("-"),
    };
  }, [params, defaultSort, descending]);

  const write = useCallback(
    (values: Record<string, string>) =>
      setParams(
        (current) => {
          const next = new URLSearchParams(current);
          for (const [name, value] of Object.entries(values)) {
            if (value === "") next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: true },
      ),
    [setParams],
  );
  const change = useCallback(
    (part: Partial<ListState>) => {
      const next = { ...state, page: 1, ...part };
      write({
        page: next.page === 1 ? "" : String(next.page),
        search: next.search,
        sort: next.sort === "" ? "" : `${next.descending ? "-" : ""}${next.sort}`,
      });
    },
    [state, write],
  );
  return {
    state,
    change,
    filter: (name) => params.get(name) ?? "",
    setFilter: (name, value) => write({ [name]: value, page: "" }),
    setFilters: (values) => write({ ...values, page: "" }),
  };
}
