// Adds, changes and deletes a budget. The service replaces the whole list, so it is read anew before.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { ApiClient } from "../api/client.ts";
import { exactNumber, isDecimalNumber } from "../api/exact-json.ts";
import { useApi, useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { formatCurrency } from "../components/amount-format.ts";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { useNotifications } from "../components/notifications.tsx";
import type { BudgetState } from "./budget-bar.tsx";
import { useFlag, useMay } from "./me.ts";

type BudgetChange = components["schemas"]["BudgetChange"];
type Threshold = components["schemas"]["Threshold"];
type Target = BudgetChange["target"];

const PERCENT = /^[1-9]\d{0,3}$/;

async function replaceBudgets(
  client: ApiClient,
  change: (budgets: BudgetChange[]) => BudgetChange[],
) {
  const { budgets } = await client.get("/m/portal/budgets");
  const stored = budgets.map((budget) => ({
    budget_id: budget.budget_id,
    name: budget.name,
    target: budget.target,
    ...(budget.target_id !== null && { target_id: budget.target_id }),
    amount: exactNumber(budget.amount),
    currency: budget.currency,
    thresholds: budget.thresholds,
  }));
  return client.put("/m/portal/budgets", { body: { budgets: change(stored) } });
}

export function DeleteBudgetDialog({ budget, onEnd }: { budget: BudgetState; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const remove = useChange(
    (client) =>
      replaceBudgets(client, (budgets) =>
        budgets.filter((each) => each.budget_id !== budget.budget_id),
      ),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`${budget.name} was deleted.` });
        onEnd();
      },
    },
  );
  return (
    <ConfirmDialog
      title={t`Delete ${budget.name}`}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>The budget and its thresholds are deleted. Costs stay.</Trans>
    </ConfirmDialog>
  );
}

export function BudgetDialog({ budget, onEnd }: { budget?: BudgetState; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [name, setName] = useState(budget?.name ?? "");
  const [target, setTarget] = useState<Target>(budget?.target ?? "company");
  const [targetId, setTargetId] = useState(budget?.target_id ?? "");
  const [amount, setAmount] = useState(String(budget?.amount ?? ""));
  const [thresholds, setThresholds] = useState<{ percent: string; of: Threshold["of"] }[]>(
    (budget?.thresholds ?? [{ percent: 80, of: "actual" }]).map(({ percent, of }) => ({
      percent: String(percent),
      of,
    })),
  );
  const digits = amount.replaceAll(",", "");
  const save = useChange(
    (client) =>
      replaceBudgets(client, (budgets) => {
        const changed: BudgetChange = {
          name: name.trim(),
          target,
          ...(target !== "company" && { target_id: targetId.trim() }),
          amount: exactNumber(digits),
          thresholds: thresholds.map(({ percent, of }) => ({ percent: Number(percent), of })),
          ...(budget && { budget_id: budget.budget_id, currency: budget.currency }),
        };
        if (budget === undefined) return [...budgets, changed];
        return budgets.map((each) => (each.budget_id === budget.budget_id ? changed : each));
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The budget was saved.` });
        onEnd();
      },
    },
  );
  const ready =
    name.trim() !== "" &&
    isDecimalNumber(digits) &&
    (target === "company" || targetId.trim() !== "") &&
    thresholds.every(({ percent }) => PERCENT.test(percent));
  return (
    <ConfirmDialog
      title={budget === undefined ? t`Add a budget` : t`Change ${budget.name}`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error}
      ready={ready}
      onConfirm={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <FormField label={t`Name`}>
          <Input
            value={name}
            autoComplete={false}
            onChange={({ detail }) => setName(detail.value)}
          />
        </FormField>
        <TargetFields
          target={target}
          targetId={targetId}
          onChange={(chosen, id) => {
            setTarget(chosen);
            setTargetId(id);
          }}
        />
        <FormField
          label={
            budget ? t`Amount per month (${formatCurrency(budget.currency)})` : t`Amount per month`
          }
          description={budget ? "" : t`In the currency of your invoices`}
          errorText={amount !== "" && !isDecimalNumber(digits) && t`Enter digits, such as 900000.`}
        >
          <Input
            value={amount}
            inputMode="decimal"
            autoComplete={false}
            onChange={({ detail }) => setAmount(detail.value)}
          />
        </FormField>
        <ThresholdFields thresholds={thresholds} onChange={setThresholds} />
      </SpaceBetween>
    </ConfirmDialog>
  );
}

interface TargetFieldsProps {
  target: Target;
  targetId: string;
  onChange: (target: Target, targetId: string) => void;
}

function TargetFields({ target, targetId, onChange }: TargetFieldsProps) {
  const { t } = useLingui();
  const flag = useFlag();
  const may = useMay();
  const mayReadGroups = flag("usage_group") && may("ReadGroups");
  const accounts = useApi("/m/portal/accounts", {}, { enabled: target === "account" });
  const groups = useApi("/m/portal/groups", {}, { enabled: target === "group" && mayReadGroups });
  const targets: { value: Target; label: string }[] = [
    { value: "company", label: t`All costs` },
    { value: "account", label: t`One account` },
    ...(mayReadGroups ? [{ value: "group" as const, label: t`One account group` }] : []),
    { value: "tag", label: t`One tag` },
  ];
  const options =
    target === "account"
      ? (accounts.data ?? []).map((each) => ({
          value: each.customer_id,
          label: each.name,
          description: each.customer_id,
        }))
      : (groups.data ?? []).map((each) => ({ value: each.group_id, label: each.name }));
  return (
    <>
      <FormField label={t`What counts`}>
        <Select
          selectedOption={targets.find(({ value }) => value === target) ?? null}
          options={targets}
          onChange={({ detail }) => onChange(detail.selectedOption.value as Target, "")}
        />
      </FormField>
      {(target === "account" || target === "group") && (
        <FormField label={target === "account" ? t`Account` : t`Account group`}>
          <Select
            selectedOption={options.find(({ value }) => value === targetId) ?? null}
            options={options}
            filteringType="auto"
            onChange={({ detail }) => onChange(target, detail.selectedOption.value ?? "")}
          />
        </FormField>
      )}
      {target === "tag" && (
        <FormField label={t`Tag`} constraintText={t`KEY=VALUE, for example Team=web`}>
          <Input
            value={targetId}
            autoComplete={false}
            onChange={({ detail }) => onChange(target, detail.value)}
          />
        </FormField>
      )}
    </>
  );
}

interface ThresholdFieldsProps {
  thresholds: { percent: string; of: Threshold["of"] }[];
  onChange: (thresholds: { percent: string; of: Threshold["of"] }[]) => void;
}

const THRESHOLDS_MAX = 10;

function ThresholdFields({ thresholds, onChange }: ThresholdFieldsProps) {
  const { t } = useLingui();
  const bases: { value: Threshold["of"]; label: string }[] = [
    { value: "actual", label: t`% used` },
    { value: "forecast", label: t`% of the forecast` },
  ];
  const change = (index: number, part: Partial<(typeof thresholds)[number]>) =>
    onChange(thresholds.map((each, place) => (place === index ? { ...each, ...part } : each)));
  return (
    <FormField label={t`Thresholds`} constraintText={t`Whole numbers from 1 to 1000`}>
      <SpaceBetween size="xs">
        {thresholds.map(({ percent, of }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a threshold has no other name
          <SpaceBetween key={index} direction="horizontal" size="xs">
            <Input
              value={percent}
              inputMode="numeric"
              ariaLabel={t`Threshold ${index + 1}`}
              invalid={!PERCENT.test(percent)}
              onChange={({ detail }) => change(index, { percent: detail.value.trim() })}
            />
            <Select
              ariaLabel={t`What threshold ${index + 1} is compared with`}
              selectedOption={bases.find(({ value }) => value === of) ?? null}
              options={bases}
              onChange={({ detail }) =>
                change(index, { of: detail.selectedOption.value as Threshold["of"] })
              }
            />
            <Button
              iconName="remove"
              variant="icon"
              ariaLabel={t`Remove threshold ${index + 1}`}
              onClick={() => onChange(thresholds.filter((_, place) => place !== index))}
            />
          </SpaceBetween>
        ))}
        <Button
          disabled={thresholds.length >= THRESHOLDS_MAX}
          onClick={() => onChange([...thresholds, { percent: "100", of: "actual" }])}
        >
          <Trans>Add a threshold</Trans>
        </Button>
      </SpaceBetween>
    </FormField>
  );
}
