// Changes the own password.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { type FormEvent, useState } from "react";
import { useChange } from "../api/queries.ts";
import { useErrorText } from "../components/error-text.ts";
import { isPassword } from "../components/password.ts";
import { NewPasswordFields } from "../session/new-password-fields.tsx";
import { useSession } from "../session/session.tsx";
import { CurrentPasswordField } from "./current-password-field.tsx";

export function PasswordForm() {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { session } = useSession();
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState("");
  const [repeated, setRepeated] = useState("");
  // The change ends this session too: reading the pages again leads to the sign-in page.
  const save = useChange((client) =>
    client.put("/m/u/users/{user_id}/password", {
      path: { user_id: session.userId },
      body: { password, old_password: current },
    }),
  );
  const wrong = save.error?.violations.some(({ field }) => field === "old_password") ?? false;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(undefined);
  };
  return (
    <form onSubmit={submit}>
      <Container
        header={
          <Header variant="h2" description={t`A new password signs you out everywhere, also here.`}>
            <Trans>Password</Trans>
          </Header>
        }
      >
        <Form
          actions={
            <Button
              variant="primary"
              formAction="submit"
              loading={save.isPending}
              disabled={current === "" || !isPassword(password) || password !== repeated}
            >
              <Trans>Change the password</Trans>
            </Button>
          }
        >
          <SpaceBetween size="m">
            {save.error !== null && !wrong && <Alert type="error">{errorText(save.error)}</Alert>}
            <CurrentPasswordField value={current} onChange={setCurrent} wrong={wrong} />
            <NewPasswordFields
              password={password}
              repeated={repeated}
              onPassword={setPassword}
              onRepeated={setRepeated}
            />
          </SpaceBetween>
        </Form>
      </Container>
    </form>
  );
}
