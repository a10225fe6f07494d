// Edits the free-format items of one vendor.

import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Checkbox from "@cloudscape-design/components/checkbox";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { exactNumber, isDecimalNumber } from "../../../api/exact-json.ts";
import { useChange } from "../../../api/queries.ts";
import { formatCurrency } from "../../../components/amount-format.ts";
import { EditConflict } from "../../../components/edit-conflict.tsx";
import { useEditing, type Versioned } from "../../../components/editing.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { useMay } from "../../me.ts";
import type { BillingGroup } from "./customer-page.tsx";

/** An item as it is typed. */
interface Item {
  label: string;
  unit: string;
  quantity: string;
  total: string;
  enabled: boolean;
}

const LABEL_MAX = 60;

export function ItemsEditor({
  loaded,
  vendor,
}: {
  loaded: Versioned<BillingGroup>;
  vendor: string;
}) {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyBillingGroup");
  const { notify } = useNotifications();
  const errorText = useErrorText();
  const read = useCallback(
    (group: BillingGroup) => ({ items: readItems(group, vendor) }),
    [vendor],
  );
  const editing = useEditing(loaded, read);
  const { items } = editing.form;
  const currency = formatCurrency(loaded.data.invoices[vendor]?.currency ?? "jpy");
  const save = useChange(
    (client, version: string | undefined) =>
      client.post("/m/core/billinggroup/{company_id}/freeformat/{vendor}", {
        path: { company_id: loaded.data.company_id, vendor },
        body: { additional_items: items.map(writeItem) },
        ifMatch: version,
      }),
    { onSuccess: () => notify({ type: "success", content: t`The free-format items were saved.` }) },
  );
  const valid = items.every(isValid);
  const refused = save.error !== null && save.error.status !== 412 ? errorText(save.error) : "";
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`They are printed on every invoice of this vendor, in ${currency}, and taxed. Items that are switched off are kept and not printed.`}
        >
          <Trans>Free-format items</Trans>
        </Header>
      }
    >
      <UnsavedChanges changed={editing.changed && !save.isPending} />
      <EditConflict
        error={save.error}
        editing={editing}
        describe={(form) => [[t`Free-format items`, form.items.map(describeItem).join(" / ")]]}
        save={(version) => save.mutate(version)}
        onEnd={() => save.reset()}
      />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (valid) save.mutate(editing.version);
        }}
      >
        <Form
          errorText={refused}
          actions={
            mayChange && (
              <SpaceBetween direction="horizontal" size="xs">
                <Button
                  formAction="none"
                  variant="link"
                  disabled={!editing.changed}
                  onClick={editing.reset}
                >
                  <Trans>Undo the changes</Trans>
                </Button>
                <Button
                  variant="primary"
                  loading={save.isPending}
                  disabled={!editing.changed || !valid}
                >
                  <Trans>Save the items</Trans>
                </Button>
              </SpaceBetween>
            )
          }
        >
          <ItemRows
            items={items}
            onChange={(changed) => editing.change({ items: changed })}
            disabled={!mayChange}
          />
        </Form>
      </form>
    </Container>
  );
}

interface ItemRowsProps {
  items: Item[];
  onChange: (items: Item[]) => void;
  disabled: boolean;
}

function ItemRows({ items, onChange, disabled }: ItemRowsProps) {
  const { t } = useLingui();
  const change = (index: number, part: Partial<Item>) =>
    onChange(items.map((item, other) => (other === index ? { ...item, ...part } : item)));
  const numberError = (text: string) => (isDecimalNumber(text) ? null : t`Enter a number.`);
  const field = (name: "unit" | "quantity" | "total") => (item: Item, index: number) => (
    <Input
      value={item[name]}
      inputMode="decimal"
      disabled={disabled}
      onChange={({ detail }) => change(index, { [name]: detail.value })}
    />
  );
  return (
    <AttributeEditor
      items={items}
      disableAddButton={disabled}
      addButtonText={t`Add an item`}
      removeButtonText={t`Remove`}
      removeButtonAriaLabel={(item) => t`Remove ${item.label}`}
      isItemRemovable={() => !disabled}
      onAddButtonClick={() =>
        onChange([...items, { label: "", unit: "0", quantity: "1", total: "0", enabled: true }])
      }
      onRemoveButtonClick={({ detail }) =>
        onChange(items.filter((_item, index) => index !== detail.itemIndex))
      }
      gridLayout={[
        { rows: [[4, 2, 2, 2, 2]], removeButton: { width: "auto" }, breakpoint: "xs" },
        { rows: [[1], [1], [1], [1], [1]] },
      ]}
      definition={[
        {
          label: t`Text`,
          control: (item, index) => (
            <Input
              value={item.label}
              disabled={disabled}
              onChange={({ detail }) => change(index, { label: detail.value })}
            />
          ),
          errorText: (item) =>
            item.label.trim() === "" || item.label.length > LABEL_MAX
              ? t`Enter a text of at most ${LABEL_MAX} characters.`
              : null,
        },
        {
          label: t`Unit price`,
          control: field("unit"),
          errorText: (item) => numberError(item.unit),
        },
        {
          label: t`Quantity`,
          control: field("quantity"),
          errorText: (item) => numberError(item.quantity),
        },
        { label: t`Total`, control: field("total"), errorText: (item) => numberError(item.total) },
        {
          label: t`Printed`,
          control: (item, index) => (
            <Checkbox
              checked={item.enabled}
              disabled={disabled}
              ariaLabel={t`Print ${item.label}`}
              onChange={({ detail }) => change(index, { enabled: detail.checked })}
            />
          ),
        },
      ]}
      empty={
        <Box color="text-body-secondary">
          <Trans>There are no items. Add one for a service that you charge every month.</Trans>
        </Box>
      }
    />
  );
}

function readItems(group: BillingGroup, vendor: string): Item[] {
  return (group.additional_items[vendor] ?? []).map((item) => ({
    label: item.label,
    unit: String(item.unit_cost),
    quantity: String(item.quantity),
    total: String(item.total),
    enabled: item.enabled,
  }));
}

function writeItem(item: Item) {
  return {
    label: item.label.trim(),
    unit_cost: exactNumber(item.unit),
    quantity: exactNumber(item.quantity),
    total: exactNumber(item.total),
    enabled: item.enabled,
  };
}

function isValid(item: Item): boolean {
  const label = item.label.trim();
  const numbers = [item.unit, item.quantity, item.total];
  return label !== "" && item.label.length <= LABEL_MAX && numbers.every(isDecimalNumber);
}

function describeItem(item: Item): string {
  return `${item.label} ${item.unit} × ${item.quantity} = ${item.total}`;
}
