// One invoice template: the form beside the invoice as it would be printed.
import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Grid from "@cloudscape-design/components/grid";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useApi, useChange } from "../../../api/queries.ts";
import { ConfirmDialog } from "../../../components/confirm-dialog.tsx";
import { EditConflict } from "../../../components/edit-conflict.tsx";
import { useEditing } from "../../../components/editing.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { PageTitle } from "../../../components/page-title.tsx";
import { QueryState } from "../../../components/query-state.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { AuditLink } from "../../audit-link.tsx";
import { useMay } from "../../me.ts";
import { NotFoundPage } from "../not-found.tsx";
import { TemplateCustomers } from "./template-customers.tsx";
import { TemplateEditor } from "./template-editor.tsx";
import {
  type InvoiceTemplate,
  NEW_TEMPLATE,
  readTemplate,
  type TemplateForm,
  writeTemplate,
} from "./template-form.ts";
import { useTemplateLabels } from "./template-labels.ts";
import { TemplatePreview } from "./template-preview.tsx";

export default function TemplatePage() {
  const { id = "" } = useParams();
  const templates = useApi("/m/core/invoicetemplate", { query: { etags: true } });
  if (id === "new") return <NewTemplate />;
  return (
    <QueryState query={templates}>
      {(listed) => {
        const template = listed.find((each) => each.invoice_template_id === id);
        return template === undefined ? (
          <NotFoundPage />
        ) : (
          <OneTemplate key={id} template={template} />
        );
      }}
    </QueryState>
  );
}

function NewTemplate() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { notify } = useNotifications();
  const [form, setForm] = useState(NEW_TEMPLATE);
  const [created, setCreated] = useState<string>();
  const create = useChange(
    (client) => client.post("/m/core/invoicetemplate", { body: writeTemplate(form) }),
    {
      onSuccess: ({ invoice_template_id }) => {
        notify({ type: "success", content: <Saved id={invoice_template_id} name={form.name} /> });
        setCreated(invoice_template_id);
      },
    },
  );
  // The form counts as saved before its page is left.
  useEffect(() => {
    if (created !== undefined) navigate(`/templates/${created}`);
  }, [created, navigate]);
  const changed = JSON.stringify(form) !== JSON.stringify(NEW_TEMPLATE);
  const title = t`New invoice template`;
  return (
    <ContentLayout header={<Header variant="h1">{title}</Header>}>
      <PageTitle title={title} />
      <UnsavedChanges changed={changed && created === undefined} />
      <SideBySide form={form}>
        <TemplateEditor
          form={form}
          change={(part) => setForm((typed) => ({ ...typed, ...part }))}
          changed={changed}
          busy={create.isPending}
          error={create.error}
          onSave={() => create.mutate(undefined)}
          onUndo={() => setForm(NEW_TEMPLATE)}
          approval={{ kind: "bank_details", buildBody: () => writeTemplate(form) }}
          onRequested={() => {
            setForm(NEW_TEMPLATE);
            create.reset();
          }}
        />
      </SideBySide>
    </ContentLayout>
  );
}

function OneTemplate({ template }: { template: InvoiceTemplate }) {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyBillingGroup");
  const { notify } = useNotifications();
  const describe = useDescription();
  const [deleting, setDeleting] = useState(false);
  const id = template.invoice_template_id;
  const editing = useEditing(useVersionOf(template), readTemplate);
  const save = useChange(
    (client, version: string | undefined) =>
      client.post("/m/core/invoicetemplate/{invoice_template_id}", {
        path: { invoice_template_id: id },
        body: writeTemplate(editing.form),
        ifMatch: version,
      }),
    {
      onSuccess: () =>
        notify({ type: "success", content: <Saved id={id} name={editing.form.name} /> }),
    },
  );
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`Invoices that exist keep the template they were printed with.`}
          actions={
            <SpaceBetween direction="horizontal" size="m" alignItems="center">
              <AuditLink search={id} />
              {mayChange && (
                <Button onClick={() => setDeleting(true)}>
                  <Trans>Delete</Trans>
                </Button>
              )}
            </SpaceBetween>
          }
        >
          {template.name}
        </Header>
      }
    >
      <PageTitle title={template.name} />
      <UnsavedChanges changed={editing.changed && !save.isPending} />
      <EditConflict
        error={save.error}
        editing={editing}
        describe={describe}
        save={(version) => save.mutate(version)}
        onEnd={() => save.reset()}
      />
      {deleting && <DeleteTemplateDialog template={template} onEnd={() => setDeleting(false)} />}
      <SideBySide form={editing.form}>
        <SpaceBetween size="l">
          <TemplateEditor
            form={editing.form}
            change={editing.change}
            changed={editing.changed}
            busy={save.isPending}
            error={save.error?.status === 412 ? null : save.error}
            onSave={() => save.mutate(editing.version)}
            onUndo={editing.reset}
            approval={{
              kind: "bank_details",
              target: { invoice_template_id: id },
              buildBody: () => writeTemplate(editing.form),
            }}
            onRequested={() => {
              editing.reset();
              save.reset();
            }}
          />
          <TemplateCustomers template={template} />
        </SpaceBetween>
      </SideBySide>
    </ContentLayout>
  );
}

function SideBySide({ form, children }: { form: TemplateForm; children: React.ReactNode }) {
  return (
    <Grid gridDefinition={[{ colspan: { default: 12, s: 6 } }, { colspan: { default: 12, s: 6 } }]}>
      <div>{children}</div>
      <div className="template-preview">
        <TemplatePreview form={form} />
      </div>
    </Grid>
  );
}

function Saved({ id, name }: { id: string; name: string }) {
  return (
    <Trans>
      The template{" "}
      <RouterLink to={`/templates/${id}`} color="inverted">
        {name}
      </RouterLink>{" "}
      was saved.
    </Trans>
  );
}

function DeleteTemplateDialog({
  template,
  onEnd,
}: {
  template: InvoiceTemplate;
  onEnd: () => void;
}) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { notify } = useNotifications();
  const remove = useChange(
    async (client) => {
      await client.delete("/m/core/invoicetemplate/{invoice_template_id}", {
        path: { invoice_template_id: template.invoice_template_id },
      });
      navigate("/templates");
    },
    { onSuccess: () => notify({ type: "success", content: t`${template.name} was deleted.` }) },
  );
  return (
    <ConfirmDialog
      title={t`Delete ${template.name}`}
      word={template.name}
      action={t`Delete`}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined)}
      onCancel={onEnd}
    >
      <Trans>A template that a customer or the organisation uses is kept.</Trans>
    </ConfirmDialog>
  );
}

/** The same object as long as the template is the same, so that typing is not overwritten. */
function useVersionOf(template: InvoiceTemplate) {
  const [versioned, setVersioned] = useState({ data: template, version: template.etag });
  useEffect(() => {
    setVersioned((known) =>
      known.data === template ? known : { data: template, version: template.etag },
    );
  }, [template]);
  return versioned;
}

function useDescription(): (form: TemplateForm) => [string, string][] {
  const labels = useTemplateLabels();
  return (form) =>
    Object.entries(form).map(([name, value]) => [labels[name as keyof TemplateForm], value]);
}
