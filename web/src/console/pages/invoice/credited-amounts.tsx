// The amounts that a person types for a credit note.
import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import Checkbox from "@cloudscape-design/components/checkbox";
import Input from "@cloudscape-design/components/input";
import { Trans, useLingui } from "@lingui/react/macro";
import { isPositiveNumber } from "../../../components/amount-format.ts";

/** An amount as it is typed. */
export interface TypedCredit {
  description: string;
  amount: string;
  taxFree: boolean;
}

export function isComplete({ description, amount }: TypedCredit): boolean {
  return description.trim() !== "" && isPositiveNumber(amount);
}

interface CreditedAmountsProps {
  amounts: readonly TypedCredit[];
  onChange: (amounts: readonly TypedCredit[]) => void;
}

export function CreditedAmounts({ amounts, onChange }: CreditedAmountsProps) {
  const { t } = useLingui();
  const change = (index: number, part: Partial<TypedCredit>) =>
    onChange(amounts.map((each, other) => (other === index ? { ...each, ...part } : each)));
  return (
    <AttributeEditor
      items={amounts}
      addButtonText={t`Add an amount`}
      removeButtonText={t`Remove`}
      onAddButtonClick={() =>
        onChange([...amounts, { description: "", amount: "", taxFree: false }])
      }
      onRemoveButtonClick={({ detail }) =>
        onChange(amounts.filter((_, index) => index !== detail.itemIndex))
      }
      empty={t`No amount yet.`}
      definition={[
        {
          label: t`Description`,
          control: (item, index) => (
            <Input
              value={item.description}
              onChange={({ detail }) => change(index, { description: detail.value })}
            />
          ),
        },
        {
          label: t`Amount before tax`,
          control: (item, index) => (
            <Input
              value={item.amount}
              inputMode="decimal"
              onChange={({ detail }) => change(index, { amount: detail.value })}
            />
          ),
          errorText: (item) =>
            item.amount === "" || isPositiveNumber(item.amount) ? null : t`Enter a number above 0.`,
        },
        {
          label: t`Tax`,
          control: (item, index) => (
            <Checkbox
              checked={item.taxFree}
              onChange={({ detail }) => change(index, { taxFree: detail.checked })}
            >
              <Trans>not taxed</Trans>
            </Checkbox>
          ),
        },
      ]}
    />
  );
}
