// Says why the browser made no passkey.
import { useLingui } from "@lingui/react/macro";
import type { PasskeyFailure } from "./passkeys.ts";

export function usePasskeyText(): (failure: PasskeyFailure) => string {
  const { t } = useLingui();
  const texts: Record<PasskeyFailure, string> = {
    cancelled: t`The browser used no passkey. Try again, or use another factor.`,
    known: t`This device has a passkey for you already.`,
    unavailable: t`The browser cannot use passkeys at this address. Open the service by its host name; on your own computer that is localhost.`,
  };
  return (failure) => texts[failure];
}
