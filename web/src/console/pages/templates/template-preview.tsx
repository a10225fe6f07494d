// A sample invoice with the template in the form, as it would be printed.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import Spinner from "@cloudscape-design/components/spinner";
import { Trans, useLingui } from "@lingui/react/macro";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ApiError } from "../../../api/client.ts";
import { useClient } from "../../../api/queries.ts";
import { useErrorText } from "../../../components/error-text.ts";
import { readViolations } from "../../../components/field-errors.ts";
import { type TemplateForm, writeTemplate } from "./template-form.ts";
import "./templates.css";

export function TemplatePreview({ form }: { form: TemplateForm }) {
  const { t } = useLingui();
  const errorText = useErrorText();
  const preview = usePreview(form);
  const address = useAddress(preview.data);
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={t`A sample with an invented customer. Nothing is saved.`}
          actions={preview.isFetching && <Spinner />}
        >
          <Trans>Preview</Trans>
        </Header>
      }
    >
      {!isComplete(form) ? (
        <Box color="text-body-secondary">
          <Trans>Enter a name and an issuer to see the preview.</Trans>
        </Box>
      ) : preview.error !== null ? (
        <Alert type="warning">
          {readViolations(preview.error).length > 0 ? (
            <Trans>A field is not right yet. The preview follows when it is corrected.</Trans>
          ) : (
            errorText(preview.error)
          )}
        </Alert>
      ) : (
        address !== undefined && (
          <iframe
            className="template-preview-page"
            title={t`Preview of the invoice`}
            src={address}
          />
        )
      )}
    </Container>
  );
}

/** Without a name and an issuer, the service refuses a template. */
function isComplete(form: TemplateForm): boolean {
  return form.name.trim() !== "" && form.company.trim() !== "";
}

/** Waits until the person has stopped typing. */
function usePreview(form: TemplateForm) {
  const client = useClient();
  const body = isComplete(form) ? JSON.stringify(writeTemplate(form)) : "";
  const [settled, setSettled] = useState(body);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(body), 700);
    return () => clearTimeout(timer);
  }, [body]);
  return useQuery<Blob, ApiError>({
    queryKey: ["/m/core/invoicetemplate/preview", settled],
    queryFn: async ({ signal }) => {
      const response = await client.download("POST", "/m/core/invoicetemplate/preview", {
        body: new Blob([settled], { type: "application/json" }),
        signal,
      });
      return new Blob([await response.arrayBuffer()], { type: "application/pdf" });
    },
    enabled: settled !== "",
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
}

/** The address of a file in the browser's memory. */
function useAddress(file: Blob | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (file === undefined) return;
    const created = URL.createObjectURL(file);
    setAddress(created);
    return () => URL.revokeObjectURL(created);
  }, [file]);
  // The toolbar of the browser's viewer would take half of the width.
  return address === undefined ? undefined : `${address}#toolbar=0&navpanes=0&view=FitH`;
}
