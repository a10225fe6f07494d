// Adds or changes a contact of a customer.
import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../../../api/queries.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import type { Contact } from "./contacts.tsx";
import { FormDialog } from "./form-dialog.tsx";

interface ContactDialogProps {
  company: string;
  /** A new one is added without it. */
  contact?: Contact | undefined;
  onEnd: () => void;
}

export function ContactDialog({ company, contact, onEnd }: ContactDialogProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { notify } = useNotifications();
  const [name, setName] = useState(contact?.name ?? "");
  const [email, setEmail] = useState(contact?.email ?? "");
  const [sendAs, setSendAs] = useState<"to" | "cc">(contact?.send_as ?? "to");
  const [receives, setReceives] = useState(contact?.receives_invoices ?? true);
  const [language, setLanguage] = useState<"" | "ja" | "en">(contact?.language ?? "");
  const save = useChange(
    (client) => {
      const body = {
        name: name.trim(),
        email: email.trim(),
        send_as: sendAs,
        receives_invoices: receives,
        language: language === "" ? null : language,
      };
      if (contact === undefined)
        return client.post("/m/core/billinggroup/{company_id}/contacts", {
          path: { company_id: company },
          body,
        });
      return client.put("/m/core/billinggroup/{company_id}/contacts/{contact_id}", {
        path: { company_id: company, contact_id: contact.contact_id },
        body,
      });
    },
    {
      onSuccess: () => {
        notify({ type: "success", content: t`The contact ${name.trim()} was saved.` });
        onEnd();
      },
    },
  );
  const refused = useFieldErrors(save.error);
  const languages = [
    { value: "", label: t`That of the customer` },
    { value: "ja", label: "日本語" },
    { value: "en", label: "English" },
  ];
  return (
    <FormDialog
      title={contact === undefined ? t`Add a contact` : t`Edit the contact`}
      action={t`Save`}
      busy={save.isPending}
      error={save.error === null ? "" : errorText(save.error)}
      ready={name.trim() !== "" && email.includes("@")}
      onSave={() => save.mutate(undefined)}
      onCancel={onEnd}
    >
      <FormField
        label={t`Name of the contact`}
        description={t`Without an honorific, which the mail adds.`}
        errorText={refused("name")}
      >
        <Input value={name} autoFocus onChange={({ detail }) => setName(detail.value)} />
      </FormField>
      <FormField label={t`E-mail address`} errorText={refused("email")}>
        <Input type="email" value={email} onChange={({ detail }) => setEmail(detail.value)} />
      </FormField>
      <Checkbox checked={receives} onChange={({ detail }) => setReceives(detail.checked)}>
        {t`Receives invoices by mail`}
      </Checkbox>
      <FormField label={t`Place in the mail`}>
        <RadioGroup
          value={sendAs}
          items={[
            { value: "to", label: t`As recipient (To)`, disabled: !receives },
            { value: "cc", label: t`As copy (Cc)`, disabled: !receives },
          ]}
          onChange={({ detail }) => setSendAs(detail.value === "cc" ? "cc" : "to")}
        />
      </FormField>
      <FormField label={t`Language of mails`}>
        <Select
          options={languages}
          selectedOption={languages.find(({ value }) => value === language) ?? null}
          onChange={({ detail }) => {
            const chosen = detail.selectedOption.value;
            setLanguage(chosen === "ja" || chosen === "en" ? chosen : "");
          }}
        />
      </FormField>
    </FormDialog>
  );
}
