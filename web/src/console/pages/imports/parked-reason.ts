// Why an import is on hold, as a sentence.
import { useLingui } from "@lingui/react/macro";

/** The service writes its reasons in English; those that are known are translated. */
export function useParkedReason(): (reason: string) => string {
  const { t } = useLingui();
  return (reason) => {
    const payer = /^payer (\S+): (.*)$/.exec(reason);
    const [, id = "", what = ""] = payer ?? [];
    switch (payer === null ? reason : what) {
      case "total usage is negative":
        return t`The usage of payer ${id} is negative.`;
      case "usage is far below that of the previous months":
        return t`The usage of payer ${id} is far below that of the previous months.`;
      case "usage is far above that of the previous months":
        return t`The usage of payer ${id} is far above that of the previous months.`;
      case "the stored sums differ from the delivered files":
      case "the sums in the database differ from the delivered files":
        return t`The stored sums differ from the delivered files.`;
      default: {
        const unread = /^the second reading could not read (.*)$/.exec(reason);
        const file = unread?.[1] ?? "";
        return file === "" ? reason : t`The file ${file} could not be checked by a second reading.`;
      }
    }
  };
}
