// The reseller's name, colour and logo in the portal, with a preview.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FileInput from "@cloudscape-design/components/file-input";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Toggle from "@cloudscape-design/components/toggle";
import { Trans, useLingui } from "@lingui/react/macro";
import { useApi, useChange } from "../../../api/queries.ts";
import { BrandPreview } from "../../../branding/brand-strip.tsx";
import type { Branding } from "../../../branding/branding.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { useNotifications } from "../../../components/notifications.tsx";
import { encodeFile } from "./logo-file.ts";
import type { SectionProps } from "./setting-fields.ts";

const COLOUR = /^#[0-9a-f]{6}$/i;

export function BrandingSection({ form, change, disabled, fieldErrors }: SectionProps) {
  const { t } = useLingui();
  const saved = useApi("/m/core/portal-branding");
  const most = 60;
  const colour = form.portalColour.trim();
  const branding: Branding = {
    name: form.portalName.trim() || t`Customer portal`,
    colour: COLOUR.test(colour) ? colour : null,
    logo: saved.data?.logo ?? null,
  };
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`What your customers see at the top of the portal and where they sign in.`}
        >
          {t`Look of the portal`}
        </Header>
      }
    >
      <SpaceBetween size="l">
        <FormField
          label={t`Name of the portal`}
          constraintText={t`At most ${most} characters.`}
          errorText={fieldErrors("portal_name")}
        >
          <Input
            value={form.portalName}
            disabled={disabled}
            autoComplete={false}
            onChange={({ detail }) => change({ portalName: detail.value })}
          />
        </FormField>
        <FormField
          label={t`Colour of the portal`}
          description={t`Dark enough for white text.`}
          constraintText={t`# and six digits or letters from A to F, such as #1F6FB2.`}
          errorText={fieldErrors("portal_colour")}
        >
          <Input
            value={form.portalColour}
            disabled={disabled}
            autoComplete={false}
            onChange={({ detail }) => change({ portalColour: detail.value })}
          />
        </FormField>
        <LogoField disabled={disabled} exists={branding.logo !== null} />
        <FormField label={t`Preview`} stretch>
          <BrandPreview branding={branding} />
        </FormField>
        <Toggle
          checked={form.portalPayments}
          disabled={disabled}
          description={t`Switch it on once the payments of past invoices are recorded.`}
          onChange={({ detail }) => change({ portalPayments: detail.checked })}
        >
          {t`Customers see what is paid and overdue`}
        </Toggle>
      </SpaceBetween>
    </Container>
  );
}

/** A logo is stored at once, unlike the other settings. */
function LogoField({ disabled, exists }: { disabled: boolean; exists: boolean }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const { notify } = useNotifications();
  const store = useChange(
    async (client, file: File) =>
      client.put("/m/core/portal-logo", { body: { content: await encodeFile(file) } }),
    { onSuccess: () => notify({ type: "success", content: t`The logo was saved.` }) },
  );
  const remove = useChange((client) => client.delete("/m/core/portal-logo"), {
    onSuccess: () => notify({ type: "success", content: t`The logo was removed.` }),
  });
  const error = store.error ?? remove.error;
  return (
    <FormField
      label={t`Logo`}
      description={t`It is stored as soon as you choose it.`}
      constraintText={t`PNG or JPEG, at most 200 KiB, from 16 to 2,000 pixels wide and high.`}
    >
      <SpaceBetween size="s">
        {error !== null && <Alert type="error">{errorText(error)}</Alert>}
        {!disabled && (
          <SpaceBetween direction="horizontal" size="xs">
            <FileInput
              accept="image/png,image/jpeg"
              value={[]}
              onChange={({ detail }) => {
                const file = detail.value[0];
                remove.reset();
                if (file !== undefined) store.mutate(file);
              }}
            >
              {t`Choose a logo`}
            </FileInput>
            {exists && (
              <Button
                loading={remove.isPending}
                onClick={() => {
                  store.reset();
                  remove.mutate(undefined);
                }}
              >
                <Trans>Remove the logo</Trans>
              </Button>
            )}
          </SpaceBetween>
        )}
      </SpaceBetween>
    </FormField>
  );
}
