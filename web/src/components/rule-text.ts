// The rules that the service names when it refuses a field, in the person's language.
import { useLingui } from "@lingui/react/macro";
import type { ApiError } from "../api/client.ts";
import { readViolations } from "./field-errors.ts";

/** Turns a rule into a sentence; a rule that has no sentence is shown as the service wrote it. */
export function useRuleText(): (rule: string) => string {
  const { t } = useLingui();
  return (rule) => {
    const length = /^length (?:(\d+) to|up to) (\d+)$/.exec(rule);
    if (length !== null) {
      const [, least, most] = length;
      if (least === undefined || least === "0") return t`At most ${most} characters.`;
      return t`Between ${least} and ${most} characters.`;
    }
    const range = /^from ([\d.,]+) to ([\d.,]+)$/.exec(rule);
    if (range !== null) return t`A number from ${range[1]} to ${range[2]}.`;
    const repeated = /^once in (?:the file|each billing group); line (\d+) has it already$/.exec(
      rule,
    );
    if (repeated !== null) return t`Line ${repeated[1]} has the same value already.`;
    const balance = /^at most the open balance, which is (.+); record/.exec(rule);
    if (balance !== null)
      return t`At most the open balance of ${balance[1]}. Record an overpayment on the page of the invoice.`;
    const unit = /^a multiple of (.+), greater than 0/.exec(rule);
    if (unit !== null) return t`A multiple of ${unit[1]}, above 0.`;
    const choice = /^one of (.+)$/.exec(rule);
    if (choice !== null) return t`One of: ${choice[1]}.`;
    switch (rule) {
      case "not in use yet":
        return t`This id is already in use.`;
      case "required":
      case "a text that is not empty":
        return t`Enter a value.`;
      case "not in use outside your billing groups":
        return t`Not in use by customers whom you do not see.`;
      case "named once":
        return t`Named more than once.`;
      case "an e-mail address":
        return t`This is not an e-mail address.`;
      case "without an honorific such as 様, which the mail adds":
        return t`Without an honorific, which the mail adds.`;
      case "one line of text":
        return t`Enter one line of text.`;
      case "a number":
        return t`Enter a number.`;
      case "a whole number":
        return t`Enter a whole number.`;
      case "an existing billing group":
        return t`There is no such billing group.`;
      case "an address that no contact of this billing group has yet; remove the line":
        return t`A contact of this customer has this address already. Remove the line.`;
      case "a billing group with at most 20 contacts, counting those of the file":
        return t`A customer has at most 20 contacts, counting those of the file.`;
      case "an existing invoice":
        return t`There is no invoice with this number.`;
      case "an invoice that was sent and is not cancelled":
        return t`This invoice was not sent yet, or is cancelled.`;
      case "yes, if this is another payment with the same invoice, amount, date and note":
        return t`The same payment is recorded already. Write "yes" here if it was paid twice.`;
      case "a date (yyyy-mm-dd)":
        return t`Enter a date such as 2026-10-05.`;
      case "not later than today in the time zone of the organisation":
        return t`Not later than today.`;
      case "an existing project":
        return t`There is no such project.`;
      case "an existing invoice template":
        return t`There is no such invoice template.`;
      case "T and 13 digits with their check digit":
        return t`T and 13 digits. The first digit is a check digit, so a typing error is noticed.`;
      case "# and six hexadecimal digits":
        return t`# and six digits or letters from A to F, such as #1F6FB2.`;
      case "a darker colour: the contrast to white text must be at least 4.5:1":
        return t`White text is not readable on this colour. Choose a darker one.`;
      case "a complete PNG or JPEG file; other formats are refused":
        return t`Choose a complete PNG or JPEG file.`;
      case "at most 200 KiB":
        return t`The file is larger than 200 KiB.`;
      case "from 16 to 2000 pixels wide and high":
        return t`The picture must be from 16 to 2,000 pixels wide and high.`;
      case "an https address of a public server, in printable ASCII, without user name, password and fragment":
        return t`An https address of a server on the internet, without user name and password.`;
      case "required where due_rule is days":
        return t`Enter the number of days.`;
      default:
        return rule;
    }
  };
}

/** The sentences of a refused request by field; empty for fields that are right. */
export function useFieldErrors(error: ApiError | null): (...fields: string[]) => string {
  const ruleText = useRuleText();
  const violations = readViolations(error);
  return (...fields) =>
    violations
      .filter(({ field }) => fields.some((name) => field === name || field.endsWith(`.${name}`)))
      .map(({ rule }) => ruleText(rule))
      .join(" ");
}
