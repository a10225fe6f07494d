// The pages of the customers' console; each is loaded when it is opened.
import type { ComponentType } from "react";
import { createBrowserRouter } from "react-router";
import { PageFailure } from "../components/page-failure.tsx";
import { Guard, NotAvailable, Personal, Start } from "./guard.tsx";
import { Layout } from "./layout.tsx";

type Load = () => Promise<{ default: ComponentType }>;

const PAGES: Record<string, Load> = {
  dashboard: () => import("./pages/dashboard-page.tsx"),
  invoices: () => import("./pages/invoices-page.tsx"),
  "invoices/:month/:vendor": () => import("./pages/invoice-page.tsx"),
  accounts: () => import("./usage/account-page.tsx"),
  groups: () => import("./usage/group-page.tsx"),
  tags: () => import("./usage/tag-page.tsx"),
  "tag-pairs": () => import("./usage/tag-pair-page.tsx"),
  fees: () => import("./pages/fees-page.tsx"),
  downloads: () => import("./pages/downloads-page.tsx"),
  filters: () => import("./pages/filters-page.tsx"),
  budgets: () => import("./pages/budgets-page.tsx"),
  anomalies: () => import("./pages/anomalies-page.tsx"),
  commitments: () => import("./pages/commitments-page.tsx"),
  "account-groups": () => import("./pages/account-groups-page.tsx"),
  people: () => import("./pages/people-page.tsx"),
  roles: () => import("./pages/roles-page.tsx"),
  "api-clients": () => import("./pages/api-clients-page.tsx"),
};

function guarded(path: string, load: Load) {
  return {
    path,
    lazy: async () => {
      const page = (await load()).default;
      return { Component: () => <Guard path={`/${path.split("/")[0]}`} page={page} /> };
    },
  };
}

export const router = createBrowserRouter(
  [
    {
      path: "/",
      Component: Layout,
      ErrorBoundary: PageFailure,
      // nothing, until the first page has been loaded
      HydrateFallback: () => null,
      children: [
        {
          ErrorBoundary: PageFailure,
          children: [
            { index: true, Component: Start },
            ...Object.entries(PAGES).map(([path, load]) => guarded(path, load)),
            {
              path: "security",
              lazy: async () => {
                const page = (await import("../security/security-page.tsx")).default;
                return { Component: () => <Personal page={page} /> };
              },
            },
            { path: "*", Component: NotAvailable },
          ],
        },
      ],
    },
  ],
  { basename: "/portal" },
);
