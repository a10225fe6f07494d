// The session of the person who uses a console: resume, sign in, sign out.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { ApiClient, type ApiError, type Product, type Session } from "../api/client.ts";
import { ClientProvider } from "../api/queries.ts";
import type { StaffView } from "../api/staff-view.ts";
import { ChoosePasswordPage } from "./choose-password-page.tsx";
import { type PasswordLink, takePasswordLink } from "./password-link.ts";
import { SignInPage } from "./sign-in-page.tsx";
import { Unreachable } from "./unreachable.tsx";
import { ViewEnded } from "./view-ended.tsx";

interface SessionControl {
  session: Session;
  signOut: () => Promise<void>;
  /** A member of staff sees the portal as a customer does. */
  viewing: boolean;
  /** Ends the session or the view in this tab, without asking the service. */
  leave: () => void;
}
const SessionContext = createContext<SessionControl | undefined>(undefined);

export function useSession(): SessionControl {
  const control = useContext(SessionContext);
  if (control === undefined) throw new Error("useSession needs a SessionProvider");
  return control;
}

type State =
  | { kind: "starting" }
  | { kind: "unreachable"; error: ApiError }
  | { kind: "signed-out"; ended: boolean; chosen?: boolean }
  | { kind: "choosing"; link: PasswordLink }
  | { kind: "view-ended" }
  | { kind: "signed-in"; session: Session };

function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A refusal stays a refusal; only an unreachable service is asked again.
        retry: (count, error) => count < 2 && [0, 503].includes((error as ApiError).status),
      },
    },
  });
}

// Read once, when the page loads: afterwards the address no longer has it.
const link = takePasswordLink();

/** Nobody has signed in; the page asks the service whose portal it shows. */
const VIEWED: Session = { organisationId: "", userId: "", username: "" };

function startState(view: StaffView | undefined): State {
  if (view !== undefined) return { kind: "signed-in", session: VIEWED };
  return link === undefined ? { kind: "starting" } : { kind: "choosing", link };
}

interface SessionProviderProps {
  product: Product;
  view?: StaffView | undefined;
  children: ReactNode;
}

export function SessionProvider({ product, view, children }: SessionProviderProps) {
  const [state, setState] = useState<State>(() => startState(view));
  const [attempt, setAttempt] = useState(0);
  const client = useMemo(() => new ApiClient(product, view), [product, view]);
  const cache = useMemo(createQueryClient, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt resumes again
  useEffect(() => {
    client.onSignedOut = () => {
      cache.clear();
      setState((state) =>
        client.view !== undefined
          ? { kind: "view-ended" }
          : { kind: "signed-out", ended: state.kind === "signed-in" },
      );
    };
    if (state.kind === "choosing" || client.view !== undefined) return;
    client.resume().then(
      (session) =>
        setState(session ? { kind: "signed-in", session } : { kind: "signed-out", ended: false }),
      (error) => setState({ kind: "unreachable", error }),
    );
  }, [client, cache, attempt]);

  switch (state.kind) {
    case "starting":
      return null;
    case "unreachable":
      return <Unreachable error={state.error} retry={() => setAttempt(attempt + 1)} />;
    case "choosing":
      return (
        <ChoosePasswordPage
          client={client}
          link={state.link}
          onEnd={(chosen) => setState({ kind: "signed-out", ended: false, chosen })}
        />
      );
    case "view-ended":
      return <ViewEnded />;
    case "signed-out":
      return (
        <SignInPage
          client={client}
          ended={state.ended}
          chosen={state.chosen ?? false}
          onSignedIn={(session) => setState({ kind: "signed-in", session })}
        />
      );
    case "signed-in":
      return (
        <SessionContext.Provider
          value={{
            session: state.session,
            signOut: () => client.signOut(),
            viewing: client.view !== undefined,
            leave: () => client.leave(),
          }}
        >
          <ClientProvider value={client}>
            <QueryClientProvider client={cache}>{children}</QueryClientProvider>
          </ClientProvider>
        </SessionContext.Provider>
      );
  }
}
