// Sends requests to the API with the token of the session.
import { parseExact } from "./exact-json.ts";
import type { components, paths } from "./schema.ts";
import { forgetStaffView, type StaffView } from "./staff-view.ts";
import { sendForm } from "./upload.ts";

export type Product = "core" | "portal";
type Schemas = components["schemas"];
type Method = "get" | "post" | "put" | "patch" | "delete";

/** The paths that have the method. */
export type PathWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends PathWith<M>> = paths[P][M & keyof paths[P]];
type Content<R> = R extends { content: infer C }
  ? C extends { "application/json": infer J }
    ? J
    : Blob
  : undefined;
type Success<R> = R extends { 200: infer A }
  ? A
  : R extends { 201: infer B }
    ? B
    : R extends { 202: infer C }
      ? C
      : never;

/** What a successful response holds. */
export type ResponseOf<M extends Method, P extends PathWith<M>> =
  Operation<M, P> extends { responses: infer R } ? Content<Success<R>> : never;
export type BodyOf<M extends Method, P extends PathWith<M>> =
  Operation<M, P> extends { requestBody?: { content: { "application/json": infer B } } }
    ? B
    : never;
export type QueryOf<M extends Method, P extends PathWith<M>> =
  Operation<M, P> extends { parameters: { query?: infer Q } } ? Exclude<Q, undefined> : never;

export interface RequestOptions {
  path?: Record<string, string | number>;
  query?: Record<string, string | number | boolean | undefined> | undefined;
  body?: unknown;
  /** The version that the caller has seen; a newer one is refused with 412. */
  ifMatch?: string | undefined;
  /** Repeating a request with the same key has no further effect. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Told the share of the body that has been sent, from 0 to 1; for forms with files. */
  onProgress?: ((share: number) => void) | undefined;
}

/** What is wrong with one field, or with one object that the field names. */
export interface Violation {
  field: string;
  rule: string;
}

/** A request that the service refused, or that did not reach it. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly violations: readonly Violation[];
  readonly problem: Record<string, unknown>;

  constructor(status: number, problem: Record<string, unknown>) {
    super(String(problem.detail ?? problem.title ?? ""));
    this.name = "ApiError";
    this.status = status;
    this.code = String(problem.code ?? "");
    this.requestId =
      String(problem.instance ?? "")
        .split(":")
        .at(-1) || undefined;
    this.violations = (problem.violations as Violation[] | undefined) ?? [];
    this.problem = problem;
  }

  /** The service could not be reached. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

export interface Session {
  organisationId: string;
  userId: string;
  username: string;
}
interface SessionResponse {
  access_token: string;
  organisation_id: string;
  user_id: string;
  username: string;
}

/** Calls the API of one product. The access token stays in memory. */
export class ApiClient {
  readonly product: Product;
  /** The view of a member of staff, in place of a session; it cannot be continued. */
  readonly view: StaffView | undefined;
  private token: string | undefined;
  private refreshing: Promise<Session | undefined> | undefined;
  /** Called when the session has ended. */
  onSignedOut: () => void = () => {};

  constructor(product: Product, view?: StaffView) {
    this.product = product;
    this.view = view;
    this.token = view?.token;
  }

  async signIn(organisation: string, username: string, password: string): Promise<Session> {
    const response = await this.send("POST", `/${this.product}/session`, {
      body: { organisation, username, password },
    });
    return this.keep(await readJSON(response));
  }

  /** Completes signing in with a passkey or a code. */
  async proveFactor(body: Schemas["SecondFactorSignIn"]): Promise<Session> {
    const response = await this.send("POST", `/${this.product}/session/second-factor`, { body });
    return this.keep(await readJSON(response));
  }

  /** Begins to register the first factor, which the organisation requires. */
  async beginSetup(body: Schemas["SetupStart"]): Promise<Schemas["FactorRegistration"]> {
    const path = `/${this.product}/session/second-factor/setup`;
    const response = await this.send("POST", path, { body });
    return (await readJSON(response)) as Schemas["FactorRegistration"];
  }

  /** Registers the first factor and completes signing in. */
  async completeSetup(body: Schemas["SecondFactorCreate"]): Promise<Session> {
    const path = `/${this.product}/session/second-factor/setup/confirm`;
    const response = await this.send("POST", path, { body });
    return this.keep(await readJSON(response));
  }

  /** Asks for a mail with a link; the response does not tell whether the name exists. */
  async requestPasswordLink(organisation: string, username: string): Promise<void> {
    await this.send("POST", `/${this.product}/password-reset`, {
      body: { organisation, username },
    });
  }

  /** Sets the password with a mailed link, which works once. */
  async choosePassword(organisation: string, token: string, password: string): Promise<void> {
    await this.send("POST", `/${this.product}/password-reset/confirm`, {
      body: { organisation, token, password },
    });
  }

  /** Continues the session of the browser's cookie, if there is one. */
  async resume(): Promise<Session | undefined> {
    if (this.view !== undefined) return undefined;
    if (localStorage.getItem(this.sessionKey) === null) return undefined;
    this.refreshing ??= this.refresh().finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  async signOut(): Promise<void> {
    try {
      const session = `/${this.product}/session`;
      const view = this.view && `/m/portal/views/${this.view.viewId}`;
      await this.request("DELETE", view ?? session);
    } finally {
      this.leave();
    }
  }

  /** Forgets the session or the view in this tab. */
  leave(): void {
    this.forget();
    this.onSignedOut();
  }

  get<P extends PathWith<"get">>(
    path: P,
    options: RequestOptions = {},
  ): Promise<ResponseOf<"get", P>> {
    return this.read("GET", path, options) as Promise<ResponseOf<"get", P>>;
  }

  post<P extends PathWith<"post">>(
    path: P,
    options: RequestOptions = {},
  ): Promise<ResponseOf<"post", P>> {
    return this.read("POST", path, options) as Promise<ResponseOf<"post", P>>;
  }

  put<P extends PathWith<"put">>(
    path: P,
    options: RequestOptions = {},
  ): Promise<ResponseOf<"put", P>> {
    return this.read("PUT", path, options) as Promise<ResponseOf<"put", P>>;
  }

  patch<P extends PathWith<"patch">>(
    path: P,
    options: RequestOptions = {},
  ): Promise<ResponseOf<"patch", P>> {
    return this.read("PATCH", path, options) as Promise<ResponseOf<"patch", P>>;
  }

  delete<P extends PathWith<"delete">>(
    path: P,
    options: RequestOptions = {},
  ): Promise<ResponseOf<"delete", P>> {
    return this.read("DELETE", path, options) as Promise<ResponseOf<"delete", P>>;
  }

  /** A file, and the headers that describe it. */
  async download(
    method: "GET" | "POST",
    path: string,
    options: RequestOptions = {},
  ): Promise<Response> {
    return this.request(method, fillPath(path, options), options);
  }

  /** A response with its headers, for lists that give a total count and objects with a version. */
  async fetch(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<{ data: unknown; headers: Headers }> {
    const response = await this.request(method, fillPath(path, options), options);
    return { data: await readJSON(response), headers: response.headers };
  }

  private async read(method: string, path: string, options: RequestOptions): Promise<unknown> {
    const response = await this.request(method, fillPath(path, options), options);
    const type = response.headers.get("content-type") ?? "";
    if (response.status === 204) return undefined;
    return type.includes("json") ? readJSON(response) : response.blob();
  }

  private async request(
    method: string,
    address: string,
    options: RequestOptions = {},
  ): Promise<Response> {
    if (this.token === undefined && (await this.resume()) === undefined) throw this.ended();
    try {
      return await this.send(method, address, options);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
    }
    if ((await this.resume()) === undefined) throw this.ended();
    return this.send(method, address, options);
  }

  private ended(): ApiError {
    this.leave();
    return new ApiError(401, { code: "session_ended" });
  }

  private async refresh(): Promise<Session | undefined> {
    try {
      const response = await this.send("POST", `/${this.product}/session/refresh`, {});
      return this.keep(await readJSON(response));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      this.forget();
      return undefined;
    }
  }

  /** Says that this browser has signed in. Scripts cannot see the cookie itself. */
  private get sessionKey(): string {
    return `nimbill-session-${this.product}`;
  }

  private forget(): void {
    this.token = undefined;
    // the view of a tab leaves the sessions of the browser alone
    if (this.view !== undefined) forgetStaffView();
    else localStorage.removeItem(this.sessionKey);
  }

  private keep(body: unknown): Session {
    const session = body as SessionResponse;
    this.token = session.access_token;
    localStorage.setItem(this.sessionKey, "open");
    return {
      organisationId: session.organisation_id,
      userId: session.user_id,
      username: session.username,
    };
  }

  private async send(method: string, address: string, options: RequestOptions): Promise<Response> {
    const headers = new Headers({ Accept: "application/json, */*" });
    if (this.token !== undefined) headers.set("Authorization", `Bearer ${this.token}`);
    if (options.ifMatch !== undefined) headers.set("If-Match", options.ifMatch);
    if (options.idempotencyKey !== undefined)
      headers.set("Idempotency-Key", options.idempotencyKey);
    let body: BodyInit | null = null;
    if (options.body instanceof FormData || options.body instanceof Blob) {
      body = options.body;
    } else if (options.body !== undefined) {
      headers.set("Content-Type", "application/json");
      body = JSON.stringify(options.body);
    }
    let response: Response;
    try {
      response =
        options.onProgress !== undefined && body instanceof FormData
          ? await sendForm({
              address,
              form: body,
              headers,
              onProgress: options.onProgress,
              signal: options.signal ?? new AbortController().signal,
            })
          : await fetch(address, { method, headers, body, signal: options.signal ?? null });
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") throw error;
      throw new ApiError(0, { code: "unreachable" });
    }
    if (!response.ok) throw await readProblem(response);
    return response;
  }
}

function fillPath(path: string, options: RequestOptions): string {
  const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const value = options.path?.[name];
    if (value === undefined) throw new Error(`${path} needs ${name}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size > 0 ? `${filled}?${query}` : filled;
}

async function readJSON(response: Response): Promise<unknown> {
  return parseExact(await response.text());
}

async function readProblem(response: Response): Promise<ApiError> {
  try {
    return new ApiError(response.status, (await readJSON(response)) as Record<string, unknown>);
  } catch {
    return new ApiError(response.status, { title: response.statusText });
  }
}
