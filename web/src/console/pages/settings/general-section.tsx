// Language, time zone and vendors of the organisation.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useMemo, useState } from "react";
import { formatVendor } from "../../../components/vendor.ts";
import type { SectionProps } from "./setting-fields.ts";

const KNOWN_VENDORS = ["aws", "azure", "gcp"];
const VENDOR_NAME = /^[a-z][a-z0-9-]{1,30}$/;

export function GeneralSection(props: SectionProps) {
  const { t } = useLingui();
  const { form, change, disabled, fieldErrors } = props;
  const zones = useMemo(
    () => Intl.supportedValuesOf("timeZone").map((value) => ({ value, label: value })),
    [],
  );
  return (
    <Container header={<Header variant="h2">{t`General`}</Header>}>
      <SpaceBetween size="l">
        <FormField
          label={t`Language`}
          description={t`The language of new customers' invoices and of mails.`}
        >
          <RadioGroup
            value={form.language}
            items={[
              { value: "ja", label: "日本語", disabled },
              { value: "en", label: "English", disabled },
            ]}
            onChange={({ detail }) => change({ language: detail.value === "en" ? "en" : "ja" })}
          />
        </FormField>
        <FormField
          label={t`Time zone`}
          description={t`Decides on which day an invoice is issued and when a month ends.`}
          errorText={fieldErrors("time_zone")}
        >
          <Select
            ariaLabel={t`Time zone`}
            filteringType="auto"
            filteringAriaLabel={t`Find`}
            virtualScroll
            disabled={disabled}
            selectedOption={{ value: form.timeZone, label: form.timeZone }}
            options={zones}
            onChange={({ detail }) => change({ timeZone: detail.selectedOption.value ?? "" })}
          />
        </FormField>
        <VendorFields {...props} />
      </SpaceBetween>
    </Container>
  );
}

function VendorFields({ form, change, disabled, fieldErrors }: SectionProps) {
  const { t } = useLingui();
  const [name, setName] = useState("");
  const ids = [...new Set([...KNOWN_VENDORS, ...form.vendors])];
  const options = ids.map((value) => ({ value, label: formatVendor(value) }));
  const others = form.vendors.filter((vendor) => !KNOWN_VENDORS.includes(vendor));
  const isNew = VENDOR_NAME.test(name) && !form.vendors.includes(name);
  return (
    <SpaceBetween size="l">
      <FormField
        label={t`Vendors`}
        description={t`Whose costs are billed. A vendor with accounts or costs cannot be removed.`}
        errorText={fieldErrors("vendors")}
      >
        <Multiselect
          ariaLabel={t`Vendors`}
          options={options}
          disabled={disabled}
          selectedOptions={options.filter((option) => form.vendors.includes(option.value))}
          deselectAriaLabel={(option) => t`Remove ${option.label ?? ""}`}
          onChange={({ detail }) =>
            change({ vendors: detail.selectedOptions.flatMap((option) => option.value ?? []) })
          }
        />
      </FormField>
      <FormField
        label={t`Another vendor`}
        description={t`Any provider that delivers FOCUS files, under a short name of your own.`}
        constraintText={t`Lower-case letters, digits and hyphens, for example oracle`}
        secondaryControl={
          <Button
            disabled={disabled || !isNew}
            onClick={() => {
              change({ vendors: [...form.vendors, name] });
              setName("");
            }}
          >
            <Trans>Add the vendor</Trans>
          </Button>
        }
      >
        <Input
          value={name}
          disabled={disabled}
          autoComplete={false}
          onChange={({ detail }) => setName(detail.value.trim().toLowerCase())}
        />
      </FormField>
      {others.map((vendor) => (
        <FormField
          key={vendor}
          label={t`Names of ${vendor} in FOCUS files`}
          description={t`The provider names under which its lines appear, separated by commas.`}
          errorText={fieldErrors("provider_names", vendor)}
        >
          <Input
            value={form.providerNames[vendor] ?? ""}
            disabled={disabled}
            autoComplete={false}
            onChange={({ detail }) =>
              change({ providerNames: { ...form.providerNames, [vendor]: detail.value } })
            }
          />
        </FormField>
      ))}
    </SpaceBetween>
  );
}
