// Turns a refusal into a sentence.
import { useLingui } from "@lingui/react/macro";
import type { ApiError } from "../api/client.ts";
import { useRefusalText } from "./refusal-text.ts";
import { useRuleText } from "./rule-text.ts";

/** The sentence that says what is wrong and what to do. The service's own text follows where it helps. */
export function useErrorText(): (error: ApiError) => string {
  const { t } = useLingui();
  const refusalText = useRefusalText();
  const ruleText = useRuleText();
  /** The service's own text for what has no sentence here, with the fields that it refused. */
  const describe = (error: ApiError) => {
    const fields = error.violations
      .slice(0, 5)
      .map(({ field, rule }) => `${field}: ${ruleText(rule)}`);
    return [refusalText(error.code) ?? error.message, ...fields].join(" ");
  };
  const detail = (error: ApiError) => {
    const text = describe(error);
    return text && ` ${text}`;
  };
  return (error) => {
    if (error.isOffline)
      return t`The service cannot be reached. Check the connection and try again.`;
    if (error.status === 409 && refusalText(error.code) !== undefined) return describe(error);
    switch (error.status) {
      case 401:
        return t`Your session has ended. Sign in again.`;
      case 403:
        return (
          t`You are not allowed to do this. Ask an administrator for the permission.` +
          detail(error)
        );
      case 404:
        return refusalText(error.code) ?? t`This does not exist, or you may not see it.`;
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
