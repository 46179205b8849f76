import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';

/** A choice of one of a few, all of them in sight. */
export function Segments<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <ToggleGroup
      aria-label={label}
      value={[value]}
      onValueChange={(next) => {
        const chosen = options.find(([option]) => option === next[0]);
        if (chosen !== undefined) onChange(chosen[0]);
      }}
      className="inline-flex max-w-full rounded-md border border-line bg-sunken p-0.5"
    >
      {options.map(([option, title]) => (
        <Toggle
          key={option}
          value={option}
          className="h-7 rounded px-3 whitespace-nowrap text-muted data-[pressed]:bg-panel data-[pressed]:font-medium data-[pressed]:text-text max-sm:h-10 max-sm:px-2"
        >
          {title}
        </Toggle>
      ))}
    </ToggleGroup>
  );
}
