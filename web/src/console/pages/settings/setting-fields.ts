// What every section of the settings gets.
import type { SettingsForm } from "./settings-form.ts";

export interface SectionProps {
  form: SettingsForm;
  change: (part: Partial<SettingsForm>) => void;
  disabled: boolean;
  /** The rules that fields of the request break; empty if there are none. */
  fieldErrors: (...fields: string[]) => string;
  /** Fields that hold something else than a number. */
  badNumbers: readonly (keyof SettingsForm)[];
}
