// The own second factors, sessions, password and e-mail address; both consoles show this page.
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useLingui } from "@lingui/react/macro";
import { PageTitle } from "../components/page-title.tsx";
import { useSession } from "../session/session.tsx";
import { EmailForm } from "./email-form.tsx";
import { OwnFactorList } from "./factor-list.tsx";
import { PasswordForm } from "./password-form.tsx";
import { SessionList } from "./session-list.tsx";

export default function SecurityPage() {
  const { t } = useLingui();
  const { session } = useSession();
  const title = t`Security`;
  return (
    <>
      <PageTitle title={title} />
      <ContentLayout
        header={
          <Header variant="h1" description={t`How you sign in, and where you are signed in.`}>
            {title}
          </Header>
        }
      >
        <SpaceBetween size="l">
          <OwnFactorList userId={session.userId} />
          <SessionList userId={session.userId} />
          <PasswordForm />
          <EmailForm />
        </SpaceBetween>
      </ContentLayout>
    </>
  );
}
