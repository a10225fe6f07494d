// Adds an account, or edits one.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { ApiError } from "../../../api/client.ts";
import { useChange, useClient } from "../../../api/queries.ts";
import { ConflictDialog } from "../../../components/conflict-dialog.tsx";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { RouterLink } from "../../../components/router-link.tsx";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import type { Account } from "../../account-select.tsx";
import { AccountForm, type AccountValues, isComplete } from "./account-form.tsx";

interface CreateAccountDialogProps {
  vendor: string;
  /** What is known of the account already. */
  known?: Partial<AccountValues>;
  onEnd: (done: boolean) => void;
}

const EMPTY: AccountValues = {
  customer_id: "",
  account_id: "",
  group: undefined,
  name: "",
  note: "",
};

export function CreateAccountDialog({ vendor, known = {}, onEnd }: CreateAccountDialogProps) {
  const { t } = useLingui();
  const { notify } = useNotifications();
  const [values, setValues] = useState<AccountValues>({ ...EMPTY, ...known });
  const create = useChange(
    (client) =>
      client.post("/m/core/accts", {
        body: { vendor, customer_id: values.customer_id, ...toBody(values) },
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: <Saved values={values} /> });
        onEnd(true);
      },
    },
  );
  return (
    <AccountModal
      title={t`Add an account`}
      action={t`Add`}
      vendor={vendor}
      values={values}
      onChange={setValues}
      busy={create.isPending}
      error={create.error}
      onSave={() => create.mutate(undefined)}
      onCancel={() => onEnd(false)}
    />
  );
}

interface EditAccountDialogProps {
  account: Account;
  onEnd: (done: boolean) => void;
}

export function EditAccountDialog({ account, onEnd }: EditAccountDialogProps) {
  const { t } = useLingui();
  const client = useClient();
  const { notify } = useNotifications();
  const [values, setValues] = useState(() => toValues(account));
  const [theirs, setTheirs] = useState<Account>();
  const [etag, setEtag] = useState(account.etag);
  const { customer_id, vendor } = account;
  const save = useChange(
    (sender, version: string | undefined) =>
      sender.put("/m/core/accts/{customer_id}/edit", {
        path: { customer_id },
        body: { vendor, ...toBody(values) },
        ifMatch: version,
      }),
    {
      onSuccess: () => {
        notify({ type: "success", content: <Saved values={values} /> });
        onEnd(true);
      },
      onError: async (error) => {
        if (error.status !== 412) return;
        const query = { vendor, search: customer_id, limit: 20, etags: true };
        const found = await client.get("/m/core/accts", { query });
        setTheirs(found.find((each) => each.customer_id === customer_id));
      },
    },
  );
  const labels = {
    name: t`Name`,
    group: t`Customer`,
    account_id: t`Number of the payer`,
    note: t`Note`,
  };
  if (theirs !== undefined) {
    const mine = describe(values);
    const other = describe(toValues(theirs));
    return (
      <ConflictDialog
        differences={(Object.keys(labels) as (keyof typeof labels)[])
          .filter((field) => mine[field] !== other[field])
          .map((field) => ({ field: labels[field], mine: mine[field], theirs: other[field] }))}
        onOverwrite={() => {
          setTheirs(undefined);
          setEtag(theirs.etag);
          save.mutate(theirs.etag);
        }}
        onReload={() => {
          setValues(toValues(theirs));
          setEtag(theirs.etag);
          setTheirs(undefined);
          save.reset();
        }}
        onCancel={() => setTheirs(undefined)}
      />
    );
  }
  return (
    <AccountModal
      title={t`Edit the account ${account.customer_name}`}
      action={t`Save`}
      vendor={vendor}
      values={values}
      onChange={setValues}
      numberFixed
      busy={save.isPending}
      error={save.error}
      onSave={() => save.mutate(etag)}
      onCancel={() => onEnd(false)}
    />
  );
}

function Saved({ values }: { values: AccountValues }) {
  const name = values.name.trim();
  const group = values.group;
  return (
    <>
      <Trans>The account {name} was saved.</Trans>{" "}
      {group !== undefined && (
        <RouterLink to={`/customers/${group.company_id}`} color="inverted">
          {group.billinggroup_name}
        </RouterLink>
      )}
    </>
  );
}

function toBody(values: AccountValues) {
  return {
    account_id: values.account_id,
    company_id: values.group?.company_id ?? "",
    name: values.name.trim(),
    note: values.note,
  };
}

function toValues(account: Account): AccountValues {
  return {
    customer_id: account.customer_id,
    account_id: account.account_id,
    group: account,
    name: account.customer_name,
    note: account.note ?? "",
  };
}

function describe({ name, group, account_id, note }: AccountValues) {
  return { name, group: group?.billinggroup_name ?? "", account_id, note };
}

interface AccountModalProps {
  title: string;
  action: string;
  vendor: string;
  values: AccountValues;
  onChange: (values: AccountValues) => void;
  numberFixed?: boolean;
  busy: boolean;
  error: ApiError | null;
  onSave: () => void;
  onCancel: () => void;
}

function AccountModal(props: AccountModalProps) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const [initial] = useState(props.values);
  const { error, vendor, values } = props;
  return (
    <Modal
      visible
      header={props.title}
      closeAriaLabel={t`Close`}
      onDismiss={props.onCancel}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={props.onCancel}>
              <Trans>Cancel</Trans>
            </Button>
            <Button
              variant="primary"
              disabled={!isComplete(vendor, values)}
              loading={props.busy}
              onClick={props.onSave}
            >
              {props.action}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <UnsavedChanges changed={values !== initial && !props.busy} />
        {error !== null && <Alert type="error">{errorText(error)}</Alert>}
        <AccountForm
          vendor={vendor}
          values={values}
          onChange={props.onChange}
          error={error}
          numberFixed={props.numberFixed ?? false}
        />
      </SpaceBetween>
    </Modal>
  );
}
