// How amounts are rounded, the fee table, and the limits of the checks.
import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import type { SectionProps } from "./setting-fields.ts";
import type { BandFields, SettingsForm } from "./settings-form.ts";

const BANDS_MAX = 50;

export function AmountSection(props: SectionProps) {
  const { t } = useLingui();
  const { form, change, disabled } = props;
  return (
    <Container header={<Header variant="h2">{t`Amounts`}</Header>}>
      <SpaceBetween size="l">
        <FormField
          label={t`Rounding`}
          description={t`Calculations are exact. Every printed amount is rounded once, in this way.`}
        >
          <RadioGroup
            value={form.rounding}
            items={[
              {
                value: "half_up",
                label: t`Round half up`,
                description: t`100.4 becomes 100 and 100.5 becomes 101`,
                disabled,
              },
              {
                value: "down",
                label: t`Round down`,
                description: t`100.9 becomes 100`,
                disabled,
              },
              {
                value: "up",
                label: t`Round up`,
                description: t`100.1 becomes 101`,
                disabled,
              },
            ]}
            onChange={({ detail }) =>
              change({ rounding: detail.value as SettingsForm["rounding"] })
            }
          />
        </FormField>
        <FeeTable {...props} />
      </SpaceBetween>
    </Container>
  );
}

function FeeTable({ form, change, disabled, fieldErrors, badNumbers }: SectionProps) {
  const { t } = useLingui();
  const last = form.bands.length - 1;
  const setBand = (index: number, part: Partial<BandFields>) =>
    change({ bands: form.bands.map((band, at) => (at === index ? { ...band, ...part } : band)) });
  return (
    <FormField
      stretch
      label={t`Fee table`}
      description={t`Rates by the amount of usage, for customers whose agency fee follows this table. The last row has no limit.`}
      errorText={
        badNumbers.includes("bands")
          ? t`Enter a number in every field, with limits in ascending order.`
          : fieldErrors("usage_table", "upto", "rate")
      }
    >
      <AttributeEditor
        items={form.bands}
        addButtonText={t`Add a row`}
        removeButtonText={t`Remove`}
        disableAddButton={disabled || form.bands.length >= BANDS_MAX}
        isItemRemovable={() => !disabled}
        empty={t`There is no fee table.`}
        onAddButtonClick={() => change({ bands: [...form.bands, { upto: "", percent: "" }] })}
        onRemoveButtonClick={({ detail }) =>
          change({ bands: form.bands.filter((_band, index) => index !== detail.itemIndex) })
        }
        definition={[
          {
            label: t`Usage up to`,
            control: (band, index) =>
              index === last ? (
                <Box padding={{ top: "xxs" }}>{t`no limit`}</Box>
              ) : (
                <Input
                  ariaLabel={t`Usage up to, row ${index + 1}`}
                  inputMode="decimal"
                  value={band.upto}
                  disabled={disabled}
                  onChange={({ detail }) => setBand(index, { upto: detail.value })}
                />
              ),
          },
          {
            label: t`Rate in percent`,
            control: (band, index) => (
              <Input
                ariaLabel={t`Rate in percent, row ${index + 1}`}
                inputMode="decimal"
                value={band.percent}
                disabled={disabled}
                onChange={({ detail }) => setBand(index, { percent: detail.value })}
              />
            ),
          },
        ]}
      />
    </FormField>
  );
}

export function CheckSection({ form, change, disabled, fieldErrors, badNumbers }: SectionProps) {
  const { t } = useLingui();
  const noNumber = (name: keyof SettingsForm) =>
    badNumbers.includes(name) ? t`Enter a number, such as 30.` : "";
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`What the checks point out before invoices go out.`}
        >{t`Checks`}</Header>
      }
    >
      <SpaceBetween size="l">
        <FormField
          label={t`Change against last month, in percent`}
          description={t`An invoice that rises or falls by more than this is pointed out.`}
          errorText={noNumber("changeLimit") || fieldErrors("check_change_limit")}
        >
          <Input
            inputMode="decimal"
            value={form.changeLimit}
            disabled={disabled}
            onChange={({ detail }) => change({ changeLimit: detail.value })}
          />
        </FormField>
        <FormField
          label={t`Lowest margin, in percent`}
          description={t`An invoice that earns less than this is pointed out. 0 means: sold below cost.`}
          errorText={noNumber("marginLimit") || fieldErrors("check_margin_limit")}
        >
          <Input
            inputMode="decimal"
            value={form.marginLimit}
            disabled={disabled}
            onChange={({ detail }) => change({ marginLimit: detail.value })}
          />
        </FormField>
      </SpaceBetween>
    </Container>
  );
}
