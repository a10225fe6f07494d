// The dialog in which a person chooses the columns of a table and the number of its rows.
import CollectionPreferences from "@cloudscape-design/components/collection-preferences";
import { useLingui } from "@lingui/react/macro";
import type { TablePreferences } from "./preferences.ts";

interface PreferencesDialogProps {
  columns: readonly { id: string; header: string; alwaysVisible?: boolean }[];
  preferences: TablePreferences;
  onChange: (preferences: TablePreferences) => void;
}

export function PreferencesDialog({ columns, preferences, onChange }: PreferencesDialogProps) {
  const { t } = useLingui();
  return (
    <CollectionPreferences
      title={t`Preferences`}
      confirmLabel={t`Save`}
      cancelLabel={t`Cancel`}
      preferences={{
        pageSize: preferences.pageSize,
        wrapLines: preferences.wrapLines,
        visibleContent: preferences.visible,
      }}
      onConfirm={({ detail }) =>
        onChange({
          pageSize: detail.pageSize ?? preferences.pageSize,
          wrapLines: detail.wrapLines ?? false,
          visible: detail.visibleContent ?? columns.map((column) => column.id),
        })
      }
      wrapLinesPreference={{ label: t`Wrap lines` }}
      pageSizePreference={{
        title: t`Rows on a page`,
        options: [20, 50, 100, 200].map((value) => ({ value, label: String(value) })),
      }}
      visibleContentPreference={{
        title: t`Columns`,
        options: [
          {
            label: t`Columns`,
            options: columns.map((column) => ({
              id: column.id,
              label: column.header,
              editable: column.alwaysVisible !== true,
            })),
          },
        ],
      }}
    />
  );
}
