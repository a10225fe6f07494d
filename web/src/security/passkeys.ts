// Passkeys of the browser: creates one, and lets one sign, in the form of the API.
import type { components } from "../api/schema.ts";
import { decodeBytes, encodeBytes } from "./base64url.ts";

type CreationOptions = components["schemas"]["PasskeyCreationOptions"];
export type NewPasskey = components["schemas"]["NewPasskey"];
export type PasskeySignature = components["schemas"]["PasskeySignature"];

/** What the service sends after a correct password. */
export interface RequestOptions {
  challenge: string;
  rp_id: string;
  credential_ids: string[];
}

/** Why the browser made no passkey: the person cancelled, or the address has no host name. */
export type PasskeyFailure = "cancelled" | "known" | "unavailable";

export class PasskeyError extends Error {
  readonly failure: PasskeyFailure;

  constructor(failure: PasskeyFailure) {
    super(failure);
    this.name = "PasskeyError";
    this.failure = failure;
  }
}

export function arePasskeysSupported(): boolean {
  return "credentials" in navigator && "PublicKeyCredential" in window;
}

export async function createPasskey(options: CreationOptions): Promise<NewPasskey> {
  const credential = await ask(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: decodeBytes(options.challenge),
        rp: { id: options.rp_id, name: "Nimbill" },
        user: {
          id: decodeBytes(options.user_handle),
          name: options.username,
          displayName: options.username,
        },
        pubKeyCredParams: options.algorithms.map((alg) => ({ type: "public-key", alg })),
        excludeCredentials: describe(options.known_credential_ids),
        authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
        attestation: "none",
      },
    }),
  );
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    credential_id: credential.id,
    client_data: encodeBytes(response.clientDataJSON),
    attestation_object: encodeBytes(response.attestationObject),
  };
}

export async function signWithPasskey(options: RequestOptions): Promise<PasskeySignature> {
  const credential = await ask(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: decodeBytes(options.challenge),
        rpId: options.rp_id,
        allowCredentials: describe(options.credential_ids),
        userVerification: "preferred",
      },
    }),
  );
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    credential_id: credential.id,
    client_data: encodeBytes(response.clientDataJSON),
    authenticator_data: encodeBytes(response.authenticatorData),
    signature: encodeBytes(response.signature),
  };
}

function describe(ids: readonly string[]): PublicKeyCredentialDescriptor[] {
  return ids.map((id) => ({ type: "public-key", id: decodeBytes(id) }));
}

async function ask(call: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  if (!arePasskeysSupported()) throw new PasskeyError("unavailable");
  try {
    const credential = await call();
    if (credential === null) throw new PasskeyError("cancelled");
    return credential as PublicKeyCredential;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (error.name === "InvalidStateError") throw new PasskeyError("known");
    throw new PasskeyError(error.name === "SecurityError" ? "unavailable" : "cancelled");
  }
}
