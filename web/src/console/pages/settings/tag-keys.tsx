// A short list of tag keys that are typed one by one.
import Button from "@cloudscape-design/components/button";
import Grid from "@cloudscape-design/components/grid";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TokenGroup from "@cloudscape-design/components/token-group";
import { Trans, useLingui } from "@lingui/react/macro";
import { useState } from "react";

const KEYS_MAX = 5;

interface TagKeysProps {
  keys: readonly string[];
  onChange: (keys: string[]) => void;
  disabled: boolean;
}

export function TagKeys({ keys, onChange, disabled }: TagKeysProps) {
  const { t } = useLingui();
  const [typed, setTyped] = useState("");
  const key = typed.trim();
  const isNew = key !== "" && !keys.includes(key) && keys.length < KEYS_MAX;
  const add = () => {
    if (!isNew) return;
    onChange([...keys, key]);
    setTyped("");
  };
  return (
    <SpaceBetween size="xs">
      <Grid
        gridDefinition={[{ colspan: { default: 12, xs: 9 } }, { colspan: { default: 12, xs: 3 } }]}
      >
        <Input
          ariaLabel={t`Another tag`}
          value={typed}
          disabled={disabled}
          autoComplete={false}
          onChange={({ detail }) => setTyped(detail.value)}
          onKeyDown={({ detail }) => detail.key === "Enter" && add()}
        />
        <Button disabled={disabled || !isNew} onClick={add}>
          <Trans>Add</Trans>
        </Button>
      </Grid>
      <TokenGroup
        items={keys.map((label) => ({ label, disabled, dismissLabel: t`Remove ${label}` }))}
        onDismiss={({ detail }) =>
          onChange(keys.filter((_key, index) => index !== detail.itemIndex))
        }
      />
    </SpaceBetween>
  );
}
