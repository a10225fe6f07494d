// Uploads one CSV file, and lists what is wrong in it by line.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FileUpload from "@cloudscape-design/components/file-upload";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useNavigate } from "react-router";
import { useChange } from "../api/queries.ts";
import { formatCSV, saveFile } from "./csv.ts";
import { useErrorText } from "./error-text.ts";
import { readViolations } from "./field-errors.ts";
import { LineErrors } from "./line-errors.tsx";

interface CsvUploadProps {
  title: string;
  description: string;
  path:
    | "/m/core/billinggroup/csv"
    | "/m/core/accts/csv"
    | "/m/core/billinggroup/contacts/csv"
    | "/m/core/payments/csv";
  file: string;
  columns: readonly string[];
  example: readonly string[];
  /** Where what was added can be seen. */
  after: { text: string; path: string };
}

export function CsvUpload(props: CsvUploadProps) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const errorText = useErrorText();
  const [files, setFiles] = useState<File[]>([]);
  const [chosen] = files;
  const upload = useChange(
    (client, file: File) =>
      client.post(props.path, { body: new Blob([file], { type: "text/csv" }) }),
    { onSuccess: () => setFiles([]) },
  );
  const violations = readViolations(upload.error);
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={props.description}
          actions={
            <Button
              iconName="download"
              onClick={() =>
                saveFile(
                  formatCSV([props.columns, props.example]),
                  props.file,
                  "text/csv;charset=utf-8",
                )
              }
            >
              <Trans>Download a template</Trans>
            </Button>
          }
        >
          {props.title}
        </Header>
      }
    >
      <SpaceBetween size="m">
        {upload.isSuccess && (
          <Alert
            type="success"
            action={<Button onClick={() => navigate(props.after.path)}>{props.after.text}</Button>}
          >
            <Plural
              value={upload.data.created.length}
              one="# line was added."
              other="# lines were added."
            />
          </Alert>
        )}
        {upload.error !== null && violations.length === 0 && (
          <Alert type="error">{errorText(upload.error)}</Alert>
        )}
        {violations.length > 0 && <LineErrors violations={violations} />}
        <FormField
          label={t`CSV file`}
          constraintText={t`UTF-8 or Shift_JIS, at most 2,000 lines and 4 MiB.`}
        >
          <FileUpload
            value={files}
            accept=".csv,text/csv"
            showFileSize
            onChange={({ detail }) => {
              setFiles(detail.value);
              upload.reset();
            }}
            i18nStrings={{
              uploadButtonText: () => t`Choose a file`,
              dropzoneText: () => t`Drop the file here`,
              removeFileAriaLabel: () => t`Remove the file`,
            }}
          />
        </FormField>
        <Button
          variant="primary"
          disabled={chosen === undefined}
          loading={upload.isPending}
          onClick={() => chosen !== undefined && upload.mutate(chosen)}
        >
          <Trans>Add the lines</Trans>
        </Button>
      </SpaceBetween>
    </Container>
  );
}
