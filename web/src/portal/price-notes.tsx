// Says which months are provisional and which usage has no price yet.
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import type { components } from "../api/schema.ts";
import { formatVendorMonth } from "../components/vendor.ts";
import { useLanguage } from "../language/language.tsx";

type UsageMonth = components["schemas"]["UsageMonth"];
type Unpriced = components["schemas"]["UnpricedUsage"];

interface PriceNotesProps {
  months?: readonly UsageMonth[];
  unpriced: readonly Unpriced[];
}

export function PriceNotes({ months = [], unpriced }: PriceNotesProps) {
  const { language } = useLanguage();
  const describeReason = useReasonText();
  const provisional = months.filter((each) => each.provisional);
  const name = ({ month, vendor }: { month: string; vendor: string }) =>
    formatVendorMonth(month, vendor, language);
  const list = provisional.map(name).join(language === "ja" ? "、" : ", ");
  if (provisional.length === 0 && unpriced.length === 0) return null;
  return (
    <SpaceBetween size="xs">
      {provisional.length > 0 && (
        <Alert type="info">
          <Trans>Provisional, because there is no invoice yet: {list}</Trans>
        </Alert>
      )}
      {unpriced.length > 0 && (
        <Alert type="warning" header={<Trans>Some usage is not shown</Trans>}>
          <ul className="plain-list">
            {unpriced.map((each) => (
              <li key={`${each.month} ${each.vendor} ${each.reason}`}>
                {name(each)}: {describeReason(each.reason)}
              </li>
            ))}
          </ul>
        </Alert>
      )}
    </SpaceBetween>
  );
}

function useReasonText(): (reason: string) => string {
  const { t } = useLingui();
  return (reason) => {
    switch (reason) {
      case "settings_missing":
        return t`the terms are not set yet`;
      case "rate_missing":
        return t`there is no exchange rate yet`;
      case "unsupported_currency":
        return t`its currency cannot be billed`;
      case "tag_sums_missing":
        return t`it is not yet summed up by these tags`;
      default:
        return reason;
    }
  };
}
