// Chooses the month and the vendor that a page shows.
import SpaceBetween from "@cloudscape-design/components/space-between";
import { MonthSelect, VendorChoice } from "./choices.tsx";

interface MonthVendorChoiceProps {
  month: string;
  vendor: string;
  onChange: (month: string, vendor: string) => void;
}

export function MonthVendorChoice({ month, vendor, onChange }: MonthVendorChoiceProps) {
  return (
    <SpaceBetween direction="horizontal" size="s" alignItems="end">
      <VendorChoice value={vendor} onChange={(chosen) => onChange(month, chosen)} />
      <MonthSelect value={month} onChange={(chosen) => onChange(chosen, vendor)} />
    </SpaceBetween>
  );
}
