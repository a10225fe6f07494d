// Which documents the archive shows: by date of issue, amount, customer and kind.
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { isDecimalNumber } from "../../../api/exact-json.ts";
import type { ListControl } from "../../../components/list-state.ts";
import { PeriodFilter } from "../../../components/period-filter.tsx";

export const FILTER_NAMES = ["from", "to", "amount_from", "amount_to", "counterparty", "kind"];

/** The parameters of the service by the names that the address of the page has. */
export function readFilters(control: ListControl): Record<string, string> {
  const given = {
    date_from: control.filter("from"),
    date_to: control.filter("to"),
    amount_from: control.filter("amount_from"),
    amount_to: control.filter("amount_to"),
    counterparty: control.filter("counterparty"),
    document_kind: control.filter("kind"),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
}

export function ArchiveFilters({ control }: { control: ListControl }) {
  const { t } = useLingui();
  return (
    <SpaceBetween direction="horizontal" size="xs">
      <PeriodFilter control={control} />
      <TextFilter control={control} name="amount_from" label={t`Amount from`} numeric />
      <TextFilter control={control} name="amount_to" label={t`Amount to`} numeric />
      <TextFilter control={control} name="counterparty" label={t`Customer`} />
      <KindFilter control={control} />
    </SpaceBetween>
  );
}

interface TextFilterProps {
  control: ListControl;
  name: string;
  label: string;
  numeric?: boolean;
}

/** A text that selects once it is complete: with Enter, or when the field is left. */
function TextFilter({ control, name, label, numeric = false }: TextFilterProps) {
  const chosen = control.filter(name);
  const [text, setText] = useState(chosen);
  useEffect(() => setText(chosen), [chosen]);
  const value = numeric ? text.replaceAll(",", "").trim() : text.trim();
  const invalid = numeric && value !== "" && !isDecimalNumber(value);
  const apply = () => {
    if (!invalid && value !== chosen) control.setFilter(name, value);
  };
  return (
    <Input
      ariaLabel={label}
      placeholder={label}
      inputMode={numeric ? "decimal" : "text"}
      type="search"
      value={text}
      invalid={invalid}
      onChange={({ detail }) => {
        setText(detail.value);
        if (detail.value === "") control.setFilter(name, "");
      }}
      onKeyDown={({ detail }) => {
        if (detail.key === "Enter") apply();
      }}
      onBlur={apply}
    />
  );
}

function KindFilter({ control }: { control: ListControl }) {
  const { t } = useLingui();
  const options = [
    { value: "", label: t`All kinds of document` },
    { value: "invoice", label: t`Invoices` },
    { value: "credit_note", label: t`Credit notes` },
  ];
  const chosen = options.find((option) => option.value === control.filter("kind"));
  return (
    <Select
      ariaLabel={t`Kind of document`}
      expandToViewport
      selectedOption={chosen ?? { value: "", label: t`All kinds of document` }}
      options={options}
      onChange={({ detail }) => control.setFilter("kind", detail.selectedOption.value ?? "")}
    />
  );
}
