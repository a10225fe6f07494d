// Starts an import: files dropped here or chosen, or a place in the vendor's storage.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import FileDropzone from "@cloudscape-design/components/file-dropzone";
import FileInput from "@cloudscape-design/components/file-input";
import FileTokenGroup from "@cloudscape-design/components/file-token-group";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useErrorText } from "../../../components/error-text.ts";
import { currentMonth, formatMonth, shiftMonth } from "../../../components/month.ts";
import { UnsavedChanges } from "../../../components/unsaved-changes.tsx";
import { formatVendor } from "../../../components/vendor.ts";
import { useLanguage } from "../../../language/language.tsx";
import { useVendors } from "../../choices.tsx";
import { useFileProblem } from "./file-rules.ts";
import { useStartImport } from "./start-import.tsx";

type Place = "files" | "storage";

interface UploadPanelProps {
  vendor: string;
  month: string;
}

export function UploadPanel(chosen: UploadPanelProps) {
  const { t } = useLingui();
  const vendors = useVendors();
  const errorText = useErrorText();
  const fileProblem = useFileProblem();
  const [place, setPlace] = useState<Place>("files");
  const [vendor, setVendor] = useState(chosen.vendor || (vendors[0] ?? ""));
  const [month, setMonth] = useState(chosen.month);
  const [files, setFiles] = useState<File[]>([]);
  const [source, setSource] = useState("");
  const start = useStartImport(() => {
    setFiles([]);
    setSource("");
  });
  const problem = fileProblem(files);
  const places = [
    { value: "files", label: t`This computer` },
    { value: "storage", label: t`Storage` },
  ];
  const ready = place === "files" ? files.length > 0 && problem === "" : source.trim() !== "";
  const send = () =>
    start.mutate(
      place === "files" ? { vendor, month, files } : { vendor, month, source: source.trim() },
    );
  return (
    <Container>
      <UnsavedChanges changed={start.isPending} />
      <SpaceBetween size="m">
        <ColumnLayout columns={3}>
          <FormField label={t`From`}>
            <Select
              selectedOption={places.find(({ value }) => value === place) ?? null}
              options={places}
              onChange={({ detail }) =>
                setPlace(detail.selectedOption.value === "files" ? "files" : "storage")
              }
              disabled={start.isPending}
            />
          </FormField>
          <FormField label={t`Vendor of the costs`}>
            <Select
              selectedOption={{ value: vendor, label: formatVendor(vendor) }}
              options={vendors.map((value) => ({ value, label: formatVendor(value) }))}
              onChange={({ detail }) => setVendor(detail.selectedOption.value ?? vendor)}
              disabled={start.isPending}
            />
          </FormField>
          <ImportMonth month={month} onChange={setMonth} disabled={start.isPending} />
        </ColumnLayout>
        {place === "files" ? (
          <FormField
            stretch
            label={t`Cost files`}
            constraintText={t`CSV or Parquet, also as gzip or zip: at most 100 files with 256 MiB together.`}
            errorText={problem}
          >
            <SpaceBetween size="xs">
              <FileDropzone onChange={({ detail }) => setFiles([...files, ...detail.value])}>
                <SpaceBetween size="xs" alignItems="center">
                  <Box color="text-body-secondary">
                    <Trans>Drop the files of one vendor and one month here</Trans>
                  </Box>
                  <FileInput
                    multiple
                    value={files}
                    ariaLabel={t`Choose files`}
                    onChange={({ detail }) => setFiles([...files, ...detail.value])}
                  >
                    {t`Choose files`}
                  </FileInput>
                </SpaceBetween>
              </FileDropzone>
              {files.length > 0 && (
                <FileTokenGroup
                  alignment="horizontal"
                  showFileSize
                  limit={12}
                  items={files.map((file) => ({ file, loading: start.isPending }))}
                  i18nStrings={{
                    removeFileAriaLabel: (_index, name) => t`Remove ${name}`,
                    limitShowMore: t`Show more`,
                    limitShowFewer: t`Show fewer`,
                  }}
                  onDismiss={({ detail }) =>
                    setFiles(files.filter((_file, index) => index !== detail.fileIndex))
                  }
                />
              )}
            </SpaceBetween>
          </FormField>
        ) : (
          <FormField
            stretch
            label={t`Storage location`}
            description={t`A folder or file under the locations that the operator allows. Deliveries of any size can be imported from there.`}
          >
            <Input
              value={source}
              placeholder="s3://bucket/reports/2026-09/"
              onChange={({ detail }) => setSource(detail.value)}
            />
          </FormField>
        )}
        {start.error !== null && <Alert type="error">{errorText(start.error)}</Alert>}
        {start.isPending && place === "files" && (
          <ProgressBar
            label={t`Upload`}
            value={Math.floor(start.share * 100)}
            additionalInfo={
              start.share < 1
                ? t`Keep this page open until the files have been sent.`
                : t`The files have been sent and are being stored.`
            }
          />
        )}
        {(ready || start.isPending) && (
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="primary" onClick={send} loading={start.isPending} disabled={!ready}>
              <Trans>Start the import</Trans>
            </Button>
            {start.isPending && (
              <Button onClick={start.stop}>
                <Trans>Stop</Trans>
              </Button>
            )}
          </SpaceBetween>
        )}
      </SpaceBetween>
    </Container>
  );
}

interface ImportMonthProps {
  month: string;
  onChange: (month: string) => void;
  disabled: boolean;
}

/** The files usually say which month they are of; naming it refuses files of another one. */
function ImportMonth({ month, onChange, disabled }: ImportMonthProps) {
  const { t } = useLingui();
  const { language } = useLanguage();
  const recent = Array.from({ length: 15 }, (_none, index) => shiftMonth(currentMonth(), -index));
  const months = month === "" || recent.includes(month) ? recent : [month, ...recent];
  const options = [
    { value: "", label: t`As the files say` },
    ...months.map((value) => ({ value, label: formatMonth(value, language) })),
  ];
  return (
    <FormField label={t`Month of the costs`}>
      <Select
        selectedOption={options.find((option) => option.value === month) ?? null}
        options={options}
        onChange={({ detail }) => onChange(detail.selectedOption.value ?? "")}
        disabled={disabled}
      />
    </FormField>
  );
}
