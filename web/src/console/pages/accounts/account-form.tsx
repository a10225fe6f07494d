// The fields of an account, with what is wrong beside each.
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Textarea from "@cloudscape-design/components/textarea";
import { useLingui } from "@lingui/react/macro";
import type { ApiError } from "../../../api/client.ts";
import { OptionalLabel } from "../../../components/optional-label.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { formatVendor } from "../../../components/vendor.ts";
import { type GroupChoice, GroupSelect } from "../../group-select.tsx";
import { type NumberField, numberProblem } from "./account-numbers.ts";

export interface AccountValues {
  customer_id: string;
  account_id: string;
  group: GroupChoice | undefined;
  name: string;
  note: string;
}

export function isComplete(vendor: string, values: AccountValues): boolean {
  const name = values.name.trim();
  return (
    values.group !== undefined &&
    name.length >= 3 &&
    name.length <= 100 &&
    (["customer_id", "account_id"] as const).every(
      (field) => values[field] !== "" && numberProblem(vendor, field, values[field]) === undefined,
    )
  );
}

interface AccountFormProps {
  vendor: string;
  values: AccountValues;
  onChange: (values: AccountValues) => void;
  error: ApiError | null;
  /** The number of an account that exists cannot change. */
  numberFixed?: boolean;
}

export function AccountForm(props: AccountFormProps) {
  const { vendor, values, onChange, error, numberFixed = false } = props;
  const { t } = useLingui();
  const fieldErrors = useFieldErrors(error);
  const change = (part: Partial<AccountValues>) => onChange({ ...values, ...part });
  const numberTexts = {
    digits12: t`12 digits`,
    digits7: t`7 digits`,
    subscription: t`16 to 36 characters without a slash`,
    other: t`1 to 64 letters, digits or signs, without a slash or a bar`,
  };
  const problemOf = (field: NumberField) => {
    const rule = numberProblem(vendor, field, values[field]);
    if (values[field] !== "" && rule !== undefined) return numberTexts[rule];
    return fieldErrors(field);
  };
  const nameProblem =
    values.name !== "" && (values.name.trim().length < 3 || values.name.trim().length > 100)
      ? t`3 to 100 characters`
      : fieldErrors("name");
  return (
    <SpaceBetween size="m">
      <FormField
        label={t`Account number at ${formatVendor(vendor)}`}
        errorText={problemOf("customer_id")}
      >
        <Input
          value={values.customer_id}
          disabled={numberFixed}
          onChange={({ detail }) => change({ customer_id: detail.value.trim() })}
        />
      </FormField>
      <FormField
        label={t`Number of the payer`}
        description={t`The account that pays the vendor's bill for it.`}
        errorText={problemOf("account_id")}
      >
        <Input
          value={values.account_id}
          onChange={({ detail }) => change({ account_id: detail.value.trim() })}
        />
      </FormField>
      <FormField label={t`Customer`} errorText={fieldErrors("company_id")}>
        <GroupSelect value={values.group} onChange={(group) => change({ group })} />
      </FormField>
      <FormField
        label={t`Name`}
        description={t`It is printed on the invoice.`}
        errorText={nameProblem}
      >
        <Input value={values.name} onChange={({ detail }) => change({ name: detail.value })} />
      </FormField>
      <FormField label={<OptionalLabel label={t`Note`} />} errorText={fieldErrors("note")}>
        <Textarea
          rows={2}
          value={values.note}
          onChange={({ detail }) => change({ note: detail.value })}
        />
      </FormField>
    </SpaceBetween>
  );
}
