// Adds, changes and deletes a budget. The service replaces the whole list of the version that was read.
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { exactNumber, isDecimalNumber } from "../api/exact-json.ts";
import { useApi, useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { formatCurrency } from "../components/amount-format.ts";
import { ConfirmDialog } from "../components/confirm-dialog.tsx";
import { EditConflict } from "../components/edit-conflict.tsx";
import { useEditing, type Versioned } from "../components/editing.ts";
import { useNotifications } from "../components/notifications.tsx";
import type { BudgetState } from "./budget-bar.tsx";
import { useFlag, useMay } from "./me.ts";

type BudgetChange = components["schemas"]["BudgetChange"];
type BudgetStates = components["schemas"]["BudgetStates"];
type Threshold = components["schemas"]["Threshold"];
type Target = BudgetChange["target"];

const PERCENT = /^[1-9]\d{0,3}$/;

const PATH = "/m/portal/budgets";

function readBudget({ target_id, amount, ...budget }: BudgetState): BudgetChange {
  const { budget_id, name, target, currency, thresholds } = budget;
  return {
    budget_id,
    name,
    target,
    ...(target_id !== null && { target_id }),
    amount: exactNumber(amount),
    currency,
    thresholds,
  };
}

export function DeleteBudgetDialog({ budget, onEnd }: { budget: BudgetState; onEnd: () => void }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const remove = useChange(
    async (client) => {
      const { data, headers } = await client.fetch("GET", PATH);
      const others = (data as BudgetStates).budgets.filter(
        (each) => each.budget_id !== budget.budget_id,
      );
      return client.put(PATH, {
        body: { budgets: others.map(readBudget) },
        ifMatch: headers.get("etag") ?? undefined,
      });
    },
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

interface BudgetForm {
  name: string;
  target: Target;
  targetId: string;
  amount: string;
  thresholds: { percent: string; of: Threshold["of"] }[];
}

const NEW: BudgetForm = {
  name: "",
  target: "company",
  targetId: "",
  amount: "",
  thresholds: [{ percent: "80", of: "actual" }],
};

function readForm(budget: BudgetState | undefined): BudgetForm {
  if (budget === undefined) return NEW;
  return {
    name: budget.name,
    target: budget.target,
    targetId: budget.target_id ?? "",
    amount: String(budget.amount),
    thresholds: budget.thresholds.map(({ percent, of }) => ({ percent: String(percent), of })),
  };
}

/** People separate thousands with commas. */
function withoutCommas(amount: string): string {
  return amount.replaceAll(",", "");
}

/** The budget as the person has typed it, for the list that replaces the stored one. */
function writeForm(form: BudgetForm, stored: BudgetState | undefined): BudgetChange {
  const { name, target, targetId, amount, thresholds } = form;
  return {
    name: name.trim(),
    target,
    ...(target !== "company" && { target_id: targetId.trim() }),
    amount: exactNumber(withoutCommas(amount)),
    thresholds: thresholds.map(({ percent, of }) => ({ percent: Number(percent), of })),
    ...(stored && { budget_id: stored.budget_id, currency: stored.currency }),
  };
}

function isReady({ name, target, targetId, amount, thresholds }: BudgetForm): boolean {
  return (
    name.trim() !== "" &&
    isDecimalNumber(withoutCommas(amount)) &&
    (target === "company" || targetId.trim() !== "") &&
    thresholds.every(({ percent }) => PERCENT.test(percent))
  );
}

interface BudgetDialogProps {
  loaded: Versioned<BudgetStates>;
  budget?: BudgetState;
  onEnd: () => void;
}

export function BudgetDialog({ loaded, budget, onEnd }: BudgetDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const describe = useDescription();
  const id = budget?.budget_id;
  const find = useCallback(
    ({ budgets }: BudgetStates) => budgets.find((each) => each.budget_id === id),
    [id],
  );
  const editing = useEditing(
    loaded,
    useCallback((data: BudgetStates) => readForm(find(data)), [find]),
  );
  const { form, change } = editing;
  const save = useChange(
    (client, version: string | undefined) => {
      const stored = find(loaded.data);
      const changed = writeForm(form, stored);
      const budgets = loaded.data.budgets.map((each) =>
        each === stored ? changed : readBudget(each),
      );
      if (stored === undefined) budgets.push(changed);
      return client.put(PATH, { body: { budgets }, ifMatch: version });
    },
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The budget was saved.` });
        onEnd();
      },
    },
  );
  return (
    <>
      <ConfirmDialog
        title={budget === undefined ? t`Add a budget` : t`Change ${budget.name}`}
        action={t`Save`}
        busy={save.isPending}
        error={save.error?.status === 412 ? null : save.error}
        ready={isReady(form)}
        onConfirm={() => save.mutate(editing.version)}
        onCancel={onEnd}
      >
        <SpaceBetween size="m">
          <FormField label={t`Name`}>
            <Input
              value={form.name}
              autoComplete={false}
              onChange={({ detail }) => change({ name: detail.value })}
            />
          </FormField>
          <TargetFields
            target={form.target}
            targetId={form.targetId}
            onChange={(target, targetId) => change({ target, targetId })}
          />
          <FormField
            label={
              budget
                ? t`Amount per month (${formatCurrency(budget.currency)})`
                : t`Amount per month`
            }
            description={budget ? "" : t`In the currency of your invoices`}
            errorText={
              form.amount !== "" &&
              !isDecimalNumber(withoutCommas(form.amount)) &&
              t`Enter digits, such as 900000.`
            }
          >
            <Input
              value={form.amount}
              inputMode="decimal"
              autoComplete={false}
              onChange={({ detail }) => change({ amount: detail.value })}
            />
          </FormField>
          <ThresholdFields
            thresholds={form.thresholds}
            onChange={(thresholds) => change({ thresholds })}
          />
        </SpaceBetween>
      </ConfirmDialog>
      <EditConflict
        error={save.error}
        editing={editing}
        describe={describe}
        save={(version) => save.mutate(version)}
        onEnd={() => save.reset()}
      />
    </>
  );
}

/** The label and the text of each field, to compare two versions. */
function useDescription(): (form: BudgetForm) => [string, string][] {
  const { t } = useLingui();
  const targets = {
    company: t`All costs`,
    account: t`One account`,
    group: t`One account group`,
    tag: t`One tag`,
  };
  return ({ name, target, targetId, amount, thresholds }) => [
    [t`Name`, name],
    [t`What counts`, `${targets[target]} ${targetId}`.trim()],
    [t`Amount per month`, amount],
    [
      t`Thresholds`,
      thresholds
        .map(({ percent, of }) =>
          of === "forecast" ? t`${percent}% of the forecast` : t`${percent}% used`,
        )
        .join(" · "),
    ],
  ];
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
