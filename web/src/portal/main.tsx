// The customers' console.
import "../base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { LanguageProvider } from "../language/language.tsx";
import { SessionProvider } from "../session/session.tsx";
import { router } from "./routes.tsx";

const root = document.getElementById("root");
if (root === null) throw new Error("portal.html has no element with the id root");
createRoot(root).render(
  <StrictMode>
    <LanguageProvider>
      <SessionProvider product="portal">
        <RouterProvider router={router} />
      </SessionProvider>
    </LanguageProvider>
  </StrictMode>,
);
