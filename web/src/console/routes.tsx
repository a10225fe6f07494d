// The pages of the reseller's console; each is loaded when it is opened.
import type { ComponentType } from "react";
import { createBrowserRouter } from "react-router";
import { PageFailure } from "../components/page-failure.tsx";
import { Layout } from "./layout.tsx";
import { NotFoundPage } from "./pages/not-found.tsx";
import { Start } from "./start.tsx";

function page(load: () => Promise<{ default: ComponentType }>) {
  return async () => ({ Component: (await load()).default });
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
            {
              path: "months/:month?/:vendor?",
              lazy: page(() => import("./pages/month/month-page.tsx")),
            },
            {
              path: "invoices/:month?",
              lazy: page(() => import("./pages/invoices/invoices-page.tsx")),
            },
            {
              path: "invoices/:month/:company/:vendor",
              lazy: page(() => import("./pages/invoice/invoice-page.tsx")),
            },
            {
              path: "receivables",
              lazy: page(() => import("./pages/receivables/receivables-page.tsx")),
            },
            {
              path: "receivables/import",
              lazy: page(() => import("./pages/receivables/payment-import-page.tsx")),
            },
            {
              path: "archive",
              lazy: page(() => import("./pages/archive/archive-page.tsx")),
            },
            { path: "approvals", lazy: page(() => import("./pages/approvals/approvals-page.tsx")) },
            {
              path: "approvals/:id",
              lazy: page(() => import("./pages/approvals/approval-page.tsx")),
            },
            {
              path: "checks/:month?/:vendor?",
              lazy: page(() => import("./pages/checks/checks-page.tsx")),
            },
            {
              path: "sending/:month/:vendor",
              lazy: page(() => import("./pages/sending/sending-page.tsx")),
            },
            {
              path: "projects",
              lazy: page(() => import("./pages/projects/projects-page.tsx")),
            },
            {
              path: "customers",
              lazy: page(() => import("./pages/customers/customers-page.tsx")),
            },
            {
              path: "customers/new",
              lazy: page(() => import("./pages/customers/new-customer-page.tsx")),
            },
            {
              path: "customers/import",
              lazy: page(() => import("./pages/customers/import-page.tsx")),
            },
            {
              path: "customers/:company",
              lazy: page(() => import("./pages/customer/customer-page.tsx")),
            },
            {
              path: "customers/:company/terms/:vendor",
              lazy: page(() => import("./pages/terms/terms-page.tsx")),
            },
            {
              path: "templates",
              lazy: page(() => import("./pages/templates/templates-page.tsx")),
            },
            {
              path: "templates/:id",
              lazy: page(() => import("./pages/templates/template-page.tsx")),
            },
            { path: "accounts", lazy: page(() => import("./pages/accounts/accounts-page.tsx")) },
            { path: "imports", lazy: page(() => import("./pages/imports/imports-page.tsx")) },
            { path: "imports/:id", lazy: page(() => import("./pages/imports/import-page.tsx")) },
            { path: "entries", lazy: page(() => import("./pages/entries/entries-page.tsx")) },
            {
              path: "reservations",
              lazy: page(() => import("./pages/reservations/reservations-page.tsx")),
            },
            { path: "people", lazy: page(() => import("./pages/people/people-page.tsx")) },
            { path: "people/new", lazy: page(() => import("./pages/people/new-person-page.tsx")) },
            { path: "people/:user", lazy: page(() => import("./pages/people/person-page.tsx")) },
            { path: "roles", lazy: page(() => import("./pages/roles/roles-page.tsx")) },
            { path: "roles/new", lazy: page(() => import("./pages/roles/role-page.tsx")) },
            { path: "roles/:role", lazy: page(() => import("./pages/roles/role-page.tsx")) },
            {
              path: "api-clients",
              lazy: page(() => import("./pages/api-clients/api-clients-page.tsx")),
            },
            { path: "webhooks", lazy: page(() => import("./pages/webhooks/webhooks-page.tsx")) },
            { path: "webhooks/:id", lazy: page(() => import("./pages/webhooks/webhook-page.tsx")) },
            { path: "audit", lazy: page(() => import("./pages/audit/audit-page.tsx")) },
            { path: "security", lazy: page(() => import("../security/security-page.tsx")) },
            { path: "settings", lazy: page(() => import("./pages/settings/settings-page.tsx")) },
            { path: "*", Component: NotFoundPage },
          ],
        },
      ],
    },
  ],
  { basename: "/console" },
);
