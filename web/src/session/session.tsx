// The session of the person who uses a console: resume, sign in, sign out.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { ApiClient, type ApiError, type Product, type Session } from "../api/client.ts";
import { ClientProvider } from "../api/queries.ts";
import { ChoosePasswordPage } from "./choose-password-page.tsx";
import { type PasswordLink, takePasswordLink } from "./password-link.ts";
import { SignInPage } from "./sign-in-page.tsx";
import { Unreachable } from "./unreachable.tsx";

interface SessionControl {
  session: Session;
  signOut: () => Promise<void>;
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

function startState(): State {
  return link === undefined ? { kind: "starting" } : { kind: "choosing", link };
}

export function SessionProvider({ product, children }: { product: Product; children: ReactNode }) {
  const [state, setState] = useState<State>(startState);
  const [attempt, setAttempt] = useState(0);
  const client = useMemo(() => new ApiClient(product), [product]);
  const cache = useMemo(createQueryClient, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt resumes again
  useEffect(() => {
    client.onSignedOut = () => {
      cache.clear();
      setState((state) => ({ kind: "signed-out", ended: state.kind === "signed-in" }));
    };
    if (state.kind === "choosing") return;
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
          value={{ session: state.session, signOut: () => client.signOut() }}
        >
          <ClientProvider value={client}>
            <QueryClientProvider client={cache}>{children}</QueryClientProvider>
          </ClientProvider>
        </SessionContext.Provider>
      );
  }
}
