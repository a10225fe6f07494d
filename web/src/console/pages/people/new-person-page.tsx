// Adds a person: how they sign in, what they may do, for which customers.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Form from "@cloudscape-design/components/form";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";
import { ApiError } from "../../../api/client.ts";
import { useChange } from "../../../api/queries.ts";
import { useErrorText } from "../../../components/error-text.ts";
import {
  FirstPassword,
  INVITED,
  isFirstPasswordComplete,
  isInvited,
  writeFirstPassword,
} from "../../../components/first-password.tsx";
import { useNotifications } from "../../../components/notifications.tsx";
import { OptionalLabel } from "../../../components/optional-label.tsx";
import { PageTitle } from "../../../components/page-title.tsx";
import { useFieldErrors } from "../../../components/rule-text.ts";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { useMay } from "../../me.ts";
import { type AccessChoice, AccessFields } from "./access-fields.tsx";
import { saveAccess } from "./save-access.ts";

const USERNAME = /^[A-Za-z0-9_.-]{4,18}$/;

export default function NewPersonPage() {
  const { t } = useLingui();
  const navigate = useNavigate();
  const { notify, notifyError } = useNotifications();
  const errorText = useErrorText();
  const mayGiveRoles = useMay()("ModifyRoles");
  const [username, setUsername] = useState("");
  const [email, setEmail] = useState("");
  const [first, setFirst] = useState(INVITED);
  const [access, setAccess] = useState<AccessChoice>({ roles: [], customers: null });
  const [tried, setTried] = useState(false);
  const [added, setAdded] = useState("");
  const add = useChange(
    async (client) => {
      const person = await client.post("/m/u/users", {
        body: {
          username,
          ...writeFirstPassword(first, email),
        },
      });
      // The person exists from here on; a refusal of the roles is shown on their page.
      let refusal: ApiError | undefined;
      if (access.roles.length > 0 || access.customers !== null) {
        try {
          await saveAccess(client, person.user_id, access);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          refusal = error;
        }
      }
      return { person, refusal };
    },
    {
      onSuccess: ({ person, refusal }) => {
        notify({
          type: "success",
          content: isInvited(first, email)
            ? t`${person.username} was invited.`
            : t`${person.username} can sign in now.`,
        });
        if (refusal !== undefined) notifyError(refusal);
        setAdded(person.username);
      },
    },
  );
  // Once nothing is left to save, the form lets go of the page.
  useEffect(() => {
    if (added !== "") navigate(`/people/${added}`);
  }, [added, navigate]);
  const isComplete =
    USERNAME.test(username) &&
    isFirstPasswordComplete(first, email) &&
    access.customers?.length !== 0;
  const { error } = add;
  const fieldErrors = useFieldErrors(error);
  const isTaken = (code: string) => (error?.code === code ? t`This is already in use.` : "");
  const changed =
    username !== "" || email !== "" || first.password !== "" || access.roles.length > 0;
  return (
    <ContentLayout
      header={
        <Header
          variant="h1"
          description={t`A person signs in with a name and a password, and may do what their roles allow.`}
        >
          <Trans>Add a person</Trans>
        </Header>
      }
    >
      <PageTitle title={t`Add a person`} />
      <UnsavedChanges changed={changed && added === ""} />
      <Form
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={() => navigate("/people")}>
              <Trans>Cancel</Trans>
            </Button>
            <Button
              variant="primary"
              loading={add.isPending}
              onClick={() => {
                setTried(true);
                if (isComplete) add.mutate(undefined);
              }}
            >
              <Trans>Add the person</Trans>
            </Button>
          </SpaceBetween>
        }
      >
        <SpaceBetween size="l">
          {error !== null && <Alert type="error">{errorText(error)}</Alert>}
          <Container header={<Header variant="h2">{t`Sign-in`}</Header>}>
            <SpaceBetween size="l">
              <FormField
                label={t`User name`}
                constraintText={t`4 to 18 characters: letters, digits and the signs _ . -`}
                errorText={
                  fieldErrors("username") ||
                  isTaken("username_taken") ||
                  (tried && !USERNAME.test(username) ? t`Enter a user name of this form.` : "")
                }
              >
                <Input
                  value={username}
                  disabled={add.isPending}
                  autoComplete={false}
                  onChange={({ detail }) => setUsername(detail.value.trim())}
                />
              </FormField>
              <FormField
                label={<OptionalLabel label={t`E-mail`} />}
                errorText={fieldErrors("email") || isTaken("email_taken")}
              >
                <Input
                  type="email"
                  inputMode="email"
                  value={email}
                  disabled={add.isPending}
                  autoComplete={false}
                  onChange={({ detail }) => setEmail(detail.value.trim())}
                />
              </FormField>
              <FirstPassword
                value={first}
                email={email}
                disabled={add.isPending}
                onChange={setFirst}
                errorText={
                  fieldErrors("password") ||
                  (tried && !isFirstPasswordComplete(first, email)
                    ? t`Enter 8 to 18 characters.`
                    : "")
                }
              />
            </SpaceBetween>
          </Container>
          {mayGiveRoles && (
            <Container header={<Header variant="h2">{t`Access`}</Header>}>
              <AccessFields
                value={access}
                onChange={setAccess}
                error={null}
                disabled={add.isPending}
              />
            </Container>
          )}
        </SpaceBetween>
      </Form>
    </ContentLayout>
  );
}
