// Creates a customer; its terms follow on its page.
import Button from "@cloudscape-design/components/button";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { useChange } from "../../../api/queries.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { readViolations } from "../../../components/field-errors.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { PageTitle } from "../../../components/page-title.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { CustomerFields } from "../customer/customer-fields.tsx";
import { NEW_CUSTOMER, writeNewCustomer } from "../customer/customer-form.ts";

export default function NewCustomerPage() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { notify } = useNotifications();
  const errorText = useErrorText();
  const [form, setForm] = useState(NEW_CUSTOMER);
  const [created, setCreated] = useState<string>();
  const create = useChange(
    (client) => client.post("/m/core/billinggroup", { body: writeNewCustomer(form) }),
    {
      onSuccess: ({ company_id }) => {
        notify({
          type: "success",
          content: (
            <Trans>
              <RouterLink to={`/customers/${company_id}`} color="inverted">
                {form.company_name}
              </RouterLink>{" "}
              was added. Set its terms next.
            </Trans>
          ),
        });
        setCreated(company_id);
      },
    },
  );
  // The form counts as saved before its page is left.
  useEffect(() => {
    if (created !== undefined) navigate(`/customers/${created}`);
  }, [created, navigate]);
  const ready = [form.company_name, form.billinggroup_name, form.billinggroup_id].every(
    (text) => text.trim() !== "",
  );
  const changed = JSON.stringify(form) !== JSON.stringify(NEW_CUSTOMER);
  const { error } = create;
  const atField = readViolations(error).length > 0 || error?.code === "billinggroup_id_taken";
  return (
    <ContentLayout
      header={
        <Header variant="h1" description={t`Terms and accounts follow afterwards.`}>
          <Trans>Add a customer</Trans>
        </Header>
      }
    >
      <PageTitle title={t`Add a customer`} />
      <UnsavedChanges changed={changed && created === undefined} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) create.mutate(undefined);
        }}
      >
        <Form
          errorText={
            error === null
              ? ""
              : atField
                ? t`Some fields are refused. They are marked.`
                : errorText(error)
          }
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button formAction="none" variant="link" onClick={() => navigate("/customers")}>
                <Trans>Cancel</Trans>
              </Button>
              <Button variant="primary" disabled={!ready} loading={create.isPending}>
                <Trans>Add the customer</Trans>
              </Button>
            </SpaceBetween>
          }
        >
          <CustomerFields
            form={form}
            change={(part) => setForm((typed) => ({ ...typed, ...part }))}
            error={error}
            disabled={create.isPending}
          />
        </Form>
      </form>
    </ContentLayout>
  );
}
