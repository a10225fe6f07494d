// How the organisation works: language, vendors, rounding, checks, tags.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { ApprovalOffer, isApprovalRequired } from "../../../components/approval-request.tsx";
import { EditConflict } from "../../../components/edit-conflict.tsx";
import { useEditing, useVersioned, type Versioned } from "../../../components/editing.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { AuditLink } from "../../audit-link.tsx";
import { useMay } from "../../me.ts";
import { useApprovalKinds } from "../approvals/approval-texts.ts";
import { AmountSection, CheckSection } from "./amount-section.tsx";
import { ApprovalSection } from "./approval-section.tsx";
import { BrandingSection } from "./branding-section.tsx";
import { DocumentSection, ProgramSection } from "./document-section.tsx";
import { GeneralSection } from "./general-section.tsx";
import { SendingSection } from "./sending-section.tsx";
import {
  buildChange,
  findBadNumbers,
  readForm,
  type Settings,
  type SettingsForm,
} from "./settings-form.ts";
import { SignInSection } from "./sign-in-section.tsx";

export default function SettingsPage() {
  const { t } = useLingui();
  const settings = useVersioned("/m/core/settings");
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`How this organisation works. Changes take effect for everything that is created afterwards.`}
          actions={<AuditLink action="change_settings" />}
        >
          <Trans>Settings</Trans>
        </Header>
      }
    >
      <PageTitle title={t`Settings`} />
      <QueryState query={settings}>{(loaded) => <SettingsEditor loaded={loaded} />}</QueryState>
    </ContentLayout>
  );
}

function SettingsEditor({ loaded }: { loaded: Versioned<Settings> }) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const errorText = useErrorText();
  const describe = useDescription();
  const mayChange = useMay()("ModifySettings");
  const [tried, setTried] = useState(false);
  const editing = useEditing(loaded, readForm);
  const { form, change, changed } = editing;
  const save = useChange(
    (client, ifMatch: string | undefined) =>
      client.put("/m/core/settings", { body: buildChange(form, editing.latest.form), ifMatch }),
    { onSuccess: () => notify({ type: "success", content: t`The settings were saved.` }) },
  );
  const badNumbers = findBadNumbers(form);
  const section = {
    form,
    change,
    disabled: !mayChange || save.isPending,
    fieldErrors: useFieldErrors(save.error),
    badNumbers: tried ? badNumbers : [],
  };
  const actions = (
    <SpaceBetween direction="horizontal" size="xs">
      <Button variant="link" disabled={!changed} onClick={editing.reset}>
        <Trans>Discard changes</Trans>
      </Button>
      <Button
        variant="primary"
        loading={save.isPending}
        disabled={!changed}
        onClick={() => {
          setTried(true);
          if (badNumbers.length === 0) save.mutate(editing.version);
        }}
      >
        <Trans>Save</Trans>
      </Button>
    </SpaceBetween>
  );
  return (
    <Form actions={mayChange && actions}>
      <UnsavedChanges changed={changed} />
      <EditConflict
        error={save.error}
        editing={editing}
        describe={(form) => Object.entries(describe(form))}
        save={(version) => save.mutate(version)}
        onEnd={() => save.reset()}
      />
      <SpaceBetween size="l">
        <ApprovalOffer
          error={save.error}
          request={{
            kind: "settings",
            buildBody: () => buildChange(form, editing.latest.form),
          }}
          onRequested={() => {
            editing.reset();
            save.reset();
          }}
        />
        {save.error !== null && !isApprovalRequired(save.error) && (
          <Alert type="error">{errorText(save.error)}</Alert>
        )}
        {tried && badNumbers.length > 0 && (
          <Alert type="error">
            <Trans>Some fields do not hold a number. They are marked below.</Trans>
          </Alert>
        )}
        <GeneralSection {...section} />
        <AmountSection {...section} />
        <CheckSection {...section} />
        <DocumentSection {...section} />
        <SendingSection {...section} />
        <BrandingSection {...section} />
        <SignInSection {...section} />
        <ApprovalSection {...section} />
        <ProgramSection {...section} />
      </SpaceBetween>
    </Form>
  );
}

/** The settings as texts, for comparing two versions. */
function useDescription(): (form: SettingsForm) => Record<string, string> {
  const { t } = useLingui();
  const kinds = useApprovalKinds();
  const roundings = { half_up: t`Round half up`, down: t`Round down`, up: t`Round up` };
  return (form) =>
    Object.fromEntries([
      [t`Language`, form.language === "ja" ? "日本語" : "English"],
      [t`Time zone`, form.timeZone],
      [t`Vendors`, form.vendors.map(formatVendor).join(", ")],
      [t`Names in FOCUS files`, Object.entries(form.providerNames).flat().join(" ")],
      [t`Rounding`, roundings[form.rounding]],
      [
        t`Fee table`,
        form.bands.map(({ upto, percent }) => `${upto || t`no limit`}: ${percent}%`).join(" / "),
      ],
      [t`Change against last month, in percent`, form.changeLimit],
      [t`Lowest margin, in percent`, form.marginLimit],
      [t`Usual invoice template`, form.templateId],
      [t`Tag for bills by tag`, form.costTagKey],
      [t`Tags in reports`, form.reportTagKeys.join(", ")],
      [t`Values of terms`, form.updateMode],
      [t`Name of the portal`, form.portalName],
      [t`Colour of the portal`, form.portalColour],
      [t`AWS role of agents`, form.agentRole],
      [t`Customers see what is paid and overdue`, form.portalPayments ? t`Yes` : t`No`],
      [t`Your people need a second factor`, form.staffFactor ? t`Yes` : t`No`],
      [t`Customers need a second factor`, form.customerFactor ? t`Yes` : t`No`],
      [t`Approval`, form.approvalKinds.map((kind) => kinds[kind]).join(", ")],
    ]);
}
