// The customers' console.
import "../base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { readStaffView } from "../api/staff-view.ts";
import { LanguageProvider } from "../language/language.tsx";
import { SessionProvider } from "../session/session.tsx";
import { router } from "./routes.tsx";

const root = document.getElementById("root");
if (root === null) throw new Error("portal.html has no element with the id root");
const view = readStaffView();
createRoot(root).render(
  <StrictMode>
    <LanguageProvider remembered={view === undefined}>
      <SessionProvider product="portal" view={view}>
        <RouterProvider router={router} />
      </SessionProvider>
    </LanguageProvider>
  </StrictMode>,
);
