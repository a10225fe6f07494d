// Changes the names, contact and address of a customer.
import Button from "@cloudscape-design/components/button";
import Form from "@cloudscape-design/components/form";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useChange } from "../../../api/queries.ts";
import { EditConflict } from "../../../components/edit-conflict.tsx";
import { useEditing, type Versioned } from "../../../components/editing.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { readViolations } from "../../../components/field-errors.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { useMay } from "../../me.ts";
import { CustomerFields } from "./customer-fields.tsx";
import { type CustomerForm, readCustomer } from "./customer-form.ts";
import { useCustomerLabels } from "./customer-labels.ts";
import type { BillingGroup } from "./customer-page.tsx";
import { CustomerTemplate } from "./customer-template.tsx";

export function CustomerDetails({ loaded }: { loaded: Versioned<BillingGroup> }) {
  const { t } = useLingui();
  const mayChange = useMay()("ModifyBillingGroup");
  const { notify } = useNotifications();
  const errorText = useErrorText();
  const describe = useDescription();
  const editing = useEditing(loaded, readCustomer);
  const company = loaded.data.company_id;
  const save = useChange(
    (client, version: string | undefined) =>
      client.post("/m/core/billinggroup/{company_id}", {
        path: { company_id: company },
        body: editing.form,
        ifMatch: version,
      }),
    {
      onSuccess: () =>
        notify({ type: "success", content: t`${editing.form.company_name} was saved.` }),
    },
  );
  const refused = save.error !== null && save.error.status !== 412 ? save.error : null;
  const atField = readViolations(refused).length > 0 || refused?.code === "billinggroup_id_taken";
  const formError =
    refused === null
      ? ""
      : atField
        ? t`Some fields are refused. They are marked.`
        : errorText(refused);
  return (
    <SpaceBetween size="l">
      <UnsavedChanges changed={editing.changed && !save.isPending} />
      <EditConflict
        error={save.error}
        editing={editing}
        describe={describe}
        save={(version) => save.mutate(version)}
        onEnd={() => save.reset()}
      />
      <CustomerTemplate loaded={loaded} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(editing.version);
        }}
      >
        <Form
          errorText={formError}
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
                <Button variant="primary" loading={save.isPending} disabled={!editing.changed}>
                  <Trans>Save</Trans>
                </Button>
              </SpaceBetween>
            )
          }
        >
          <CustomerFields
            form={editing.form}
            change={editing.change}
            error={refused}
            disabled={!mayChange || save.isPending}
          />
        </Form>
      </form>
    </SpaceBetween>
  );
}

function useDescription(): (form: CustomerForm) => [string, string][] {
  const { t } = useLingui();
  const labels = useCustomerLabels();
  return (form) =>
    Object.entries(form).map(([name, value]) => [
      labels[name as keyof CustomerForm],
      value === true ? t`Yes` : value === false ? t`No` : value,
    ]);
}
