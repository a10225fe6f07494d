// The questions of the terms form; each shows what matters for its answer alone.
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";

export function Question({
  title,
  answer,
  children,
}: {
  title: string;
  answer: string;
  children: ReactNode;
}) {
  return (
    <Container
      header={
        <Header variant="h2" description={answer}>
          {title}
        </Header>
      }
    >
      <SpaceBetween size="m">{children}</SpaceBetween>
    </Container>
  );
}

interface ChoiceProps<V extends string> {
  label: string;
  description?: string;
  value: V;
  options: readonly { value: V; label: string; description?: string }[];
  error?: string;
  onChange: (value: V) => void;
}

export function Choice<V extends string>(props: ChoiceProps<V>) {
  return (
    <FormField
      label={props.label}
      description={props.description}
      errorText={props.error ?? ""}
      stretch
    >
      <RadioGroup
        value={props.value}
        items={[...props.options]}
        onChange={({ detail }) => props.onChange(detail.value as V)}
      />
    </FormField>
  );
}

interface NumberFieldProps {
  label: string;
  description?: ReactNode;
  value: string;
  error: string;
  onChange: (value: string) => void;
}

export function NumberField({ label, description, value, error, onChange }: NumberFieldProps) {
  return (
    <FormField label={label} description={description} errorText={error}>
      <Input
        value={value}
        inputMode="decimal"
        autoComplete={false}
        onChange={({ detail }) => onChange(detail.value)}
      />
    </FormField>
  );
}
