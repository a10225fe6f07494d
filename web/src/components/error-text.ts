// Turns a refusal into a sentence.
import { useLingui } from "@lingui/react/macro";
import type { ApiError } from "../api/client.ts";

/** The sentence that says what is wrong and what to do. The service's own text follows where it helps. */
export function useErrorText(): (error: ApiError) => string {
  const { t } = useLingui();
  return (error) => {
    if (error.isOffline)
      return t`The service cannot be reached. Check the connection and try again.`;
    switch (error.status) {
      case 401:
        return t`Your session has ended. Sign in again.`;
      case 403:
        return (
          t`You are not allowed to do this. Ask an administrator for the permission.` +
          detail(error)
        );
      case 404:
        return t`This does not exist, or you may not see it.` + detail(error);
      case 409:
        return t`This is not possible in the present state.` + detail(error);
      case 412:
        return t`Somebody else has changed this in the meantime.`;
      case 429:
        return t`Too many requests. Wait a moment and try again.`;
      case 503:
        return t`The service is not available at the moment. Try again soon.`;
      default:
        return describe(error) || t`Something went wrong (status ${error.status}).`;
    }
  };
}

function detail(error: ApiError): string {
  const text = describe(error);
  return text && ` ${text}`;
}

/** The service's own text, with the fields that it refused. */
function describe(error: ApiError): string {
  const fields = error.violations.slice(0, 5).map(({ field, rule }) => `${field}: ${rule}`);
  return [error.message, ...fields].join(" ");
}
