// Chooses the key of a tag: one that the reseller sums up, or any other by its name.
import Autosuggest from "@cloudscape-design/components/autosuggest";
import FormField from "@cloudscape-design/components/form-field";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { useMe } from "../me.ts";

interface TagChoiceProps {
  label: string;
  value: string;
  onChange: (key: string) => void;
}

export function TagChoice({ label, value, onChange }: TagChoiceProps) {
  const { t } = useLingui();
  const keys = useMe().data?.report_tag_keys ?? [];
  const [text, setText] = useState(value);
  return (
    <FormField label={label}>
      <Autosuggest
        value={text}
        options={keys.map((key) => ({ value: key }))}
        placeholder={t`Key of the tag`}
        enteredTextLabel={(entered) => t`Use ${entered}`}
        empty={t`Enter the key of a tag.`}
        onChange={({ detail }) => setText(detail.value)}
        onSelect={({ detail }) => onChange(detail.value)}
        onBlur={() => text.trim() !== value && onChange(text.trim())}
      />
    </FormField>
  );
}
