// The terms of one customer at one vendor: what would a change do?
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Form from "@cloudscape-design/components/form";
import Grid from "@cloudscape-design/components/grid";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useCallback } from "react";
import { useNavigate, useParams } from "react-router";
import { useApi } from "../../../api/queries.ts";
import { EditConflict } from "../../../components/edit-conflict.tsx";
import { useEditing, useVersioned, type Versioned } from "../../../components/editing.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { readViolations } from "../../../components/field-errors.ts";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { AuditLink } from "../../audit-link.tsx";
import { VendorChoice } from "../../choices.tsx";
import { useMay } from "../../me.ts";
import type { BillingGroup } from "../customer/customer-page.tsx";
import { OpenMonthsChoice, useOpenMonths } from "./open-months.tsx";
import { RefusedValues } from "./refused-values.tsx";
import { useSaveTerms } from "./save-terms.tsx";
import { useTermSentences } from "./term-sentences.ts";
import { findInvalidFields, readTerms, type TermsForm, type UpdateMode } from "./terms-model.ts";
import { TermsPreview } from "./terms-preview.tsx";
import { TermsQuestions } from "./terms-questions.tsx";
import "./terms.css";

export default function TermsPage() {
  const { company = "", vendor = "" } = useParams();
  const { t } = useLingui();
  const navigate = useNavigate();
  const may = useMay();
  const group = useVersioned("/m/core/billinggroup/{company_id}/resource", {
    path: { company_id: company },
  });
  const readsSettings = may("ReadSettings", "ModifySettings");
  const settings = useApi("/m/core/settings", {}, { enabled: readsSettings });
  // Who may not read the settings gets the fields of both; the service refuses what is not allowed.
  const mode = readsSettings ? settings.data?.invoice_setting_update : "either";
  const title = t`Terms for ${formatVendor(vendor)}`;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={group.data && <CustomerLink group={group.data.data} />}
          actions={
            <SpaceBetween direction="horizontal" size="m" alignItems="center">
              <AuditLink company={company} action="update_invoice_setting" />
              <VendorChoice
                value={vendor}
                onChange={(chosen) => navigate(`/customers/${company}/terms/${chosen}`)}
              />
            </SpaceBetween>
          }
        >
          {title}
        </Header>
      }
    >
      <PageTitle title={title} />
      <QueryState query={group}>
        {(loaded) =>
          mode === undefined ? (
            <QueryState query={settings}>{() => null}</QueryState>
          ) : (
            <TermsEditor key={`${company} ${vendor}`} loaded={loaded} vendor={vendor} mode={mode} />
          )
        }
      </QueryState>
    </ContentLayout>
  );
}

function CustomerLink({ group }: { group: BillingGroup }) {
  return <RouterLink to={`/customers/${group.company_id}`}>{group.name}</RouterLink>;
}

interface TermsEditorProps {
  loaded: Versioned<BillingGroup>;
  vendor: string;
  mode: UpdateMode;
}

function TermsEditor({ loaded, vendor, mode }: TermsEditorProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const describe = useDescription();
  const read = useCallback(
    (group: BillingGroup) =>
      readTerms(group.invoices[vendor], group.support_fee_targets[vendor], mode),
    [vendor, mode],
  );
  const editing = useEditing(loaded, read);
  const { form, change, changed } = editing;
  const group = loaded.data;
  const isNew = group.invoices[vendor] === undefined;
  const open = useOpenMonths(group.company_id, vendor);
  const save = useSaveTerms({ group, vendor, form, open });
  const reaches = open.use && open.months.some((each) => each.terms_differ);
  const valid = findInvalidFields(form).length === 0;
  const refused = save.error !== null && save.error.status !== 412 ? save.error : null;
  const hasFields = readViolations(refused).length > 0;
  const formError =
    refused === null
      ? ""
      : hasFields
        ? t`Some answers are refused. They are marked below.`
        : errorText(refused);
  return (
    <>
      <UnsavedChanges changed={changed && !save.isPending} />
      <EditConflict
        error={save.error}
        editing={editing}
        describe={describe}
        save={(version) => save.mutate(version)}
        onEnd={() => save.reset()}
      />
      <SpaceBetween size="l">
        <RefusedValues form={form} mode={mode} />
        <Grid
          gridDefinition={[
            { colspan: { default: 12, s: 6, l: 5 } },
            { colspan: { default: 12, s: 6, l: 7 } },
          ]}
        >
          <form
            id="terms"
            onSubmit={(event) => {
              event.preventDefault();
              if (valid) save.mutate(editing.version);
            }}
          >
            <Form errorText={formError}>
              <TermsQuestions
                form={form}
                change={change}
                vendor={vendor}
                mode={mode}
                error={refused}
              />
            </Form>
          </form>
          <div className="terms-preview">
            <SpaceBetween size="m">
              <TermsPreview company={group.company_id} vendor={vendor} form={form} />
              <OpenMonthsChoice {...open} />
              <Box float="right">
                <SpaceBetween direction="horizontal" size="xs">
                  <Button variant="link" disabled={!changed} onClick={editing.reset}>
                    <Trans>Undo the changes</Trans>
                  </Button>
                  <Button
                    variant="primary"
                    form="terms"
                    loading={save.isPending}
                    disabled={!valid || !(changed || isNew || reaches)}
                  >
                    <Trans>Save the terms</Trans>
                  </Button>
                </SpaceBetween>
              </Box>
            </SpaceBetween>
          </div>
        </Grid>
      </SpaceBetween>
    </>
  );
}

/** The sentences of the terms under the name of each question, to compare two versions. */
function useDescription(): (form: TermsForm) => [string, string][] {
  const { t } = useLingui();
  const say = useTermSentences();
  return (form) => {
    const sentences = say(form);
    return [
      [t`Discount`, sentences.discount],
      [t`Support fee`, sentences.support],
      [t`Agency fee`, sentences.agency],
      [t`Consumption tax`, sentences.tax],
      [t`Currency and lines`, sentences.lines],
    ];
  };
}
