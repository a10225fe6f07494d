// Creates an API client, then shows its secret once.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import CopyToClipboard from "@cloudscape-design/components/copy-to-clipboard";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useChange } from "../api/queries.ts";
import type { components } from "../api/schema.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { useFieldErrors } from "./rule-text.ts";

type ApiClientRecord = components["schemas"]["ApiClientRecord"];

export function CreateApiClientDialog({ user, onEnd }: { user: string; onEnd: () => void }) {
  const { t } = useLingui();
  const [name, setName] = useState("");
  const create = useChange((client) =>
    client.post("/m/u/users/client/{user}", { path: { user }, body: { name: name.trim() } }),
  );
  const fieldErrors = useFieldErrors(create.error);
  if (create.data !== undefined) return <SecretDialog client={create.data} onEnd={onEnd} />;
  return (
    <ConfirmDialog
      title={t`Create an API client of ${user}`}
      action={t`Create`}
      busy={create.isPending}
      error={create.error}
      ready={name.trim() !== ""}
      onConfirm={() => create.mutate(undefined)}
      onCancel={onEnd}
    >
      <SpaceBetween size="m">
        <Box>
          <Trans>The program may do whatever {user} may do, and nothing more.</Trans>
        </Box>
        <FormField
          label={t`Name`}
          description={t`Which program uses it, for example "monthly import".`}
          errorText={fieldErrors("name")}
        >
          <Input
            value={name}
            autoComplete={false}
            onChange={({ detail }) => setName(detail.value)}
          />
        </FormField>
      </SpaceBetween>
    </ConfirmDialog>
  );
}

function SecretDialog({ client, onEnd }: { client: ApiClientRecord; onEnd: () => void }) {
  const { t } = useLingui();
  const copied = { copySuccessText: t`Copied`, copyErrorText: t`Copying failed` };
  return (
    <Modal
      visible
      header={t`${client.name} was created`}
      closeAriaLabel={t`Close`}
      onDismiss={({ detail }) => detail.reason !== "overlay" && onEnd()}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={onEnd}>
            <Trans>I have stored the secret</Trans>
          </Button>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="warning">
          <Trans>The secret is shown only now. Store it where only the program can read it.</Trans>
        </Alert>
        <KeyValuePairs
          columns={1}
          items={[
            {
              label: t`Client id`,
              value: (
                <CopyToClipboard
                  variant="inline"
                  textToCopy={client.client_id}
                  copyButtonAriaLabel={t`Copy the client id`}
                  {...copied}
                />
              ),
            },
            {
              label: t`Secret`,
              value: (
                <CopyToClipboard
                  variant="inline"
                  textToCopy={client.client_secret}
                  copyButtonAriaLabel={t`Copy the secret`}
                  {...copied}
                />
              ),
            },
          ]}
        />
      </SpaceBetween>
    </Modal>
  );
}
