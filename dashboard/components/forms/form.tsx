/** Forms: their fields, what was typed into them, and their ends. */
import { type ComponentProps, type ReactNode, useId } from 'react';
import { Button, type ButtonProps } from '../frame/button.tsx';

/** What was typed into a field, by its name; empty where there is none of this name. */
export type Typed = (name: string) => string;

export function typedIn(form: HTMLFormElement): Typed {
  const data = new FormData(form);
  return (name) => {
    const value = data.get(name);
    return typeof value === 'string' ? value : '';
  };
}

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  readonly onSubmit: (typed: Typed, form: HTMLFormElement) => void;
}

/** A form that the page itself takes, and not the browser. */
export function Form({ onSubmit, className = 'grid gap-4', ...rest }: FormProps) {
  return (
    <form
      {...rest}
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(typedIn(event.currentTarget), event.currentTarget);
      }}
    />
  );
}

/** The button of a form, at its end. */
export const Submit = (props: ButtonProps) => (
  <Button look="primary" className="justify-self-end" {...props} type="submit" />
);

const CONTROL =
  'w-full rounded-md border border-line-strong bg-panel px-3 text-text placeholder:text-faint aria-invalid:border-stop max-sm:text-base';
const LINE = `${CONTROL} h-9 max-sm:h-11`;

interface FieldFrame {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with the value, as the service said it. */
  readonly error?: string | undefined;
}

interface FieldIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

function Frame({ label, hint, error, children }: FieldFrame & { children: (ids: FieldIds) => ReactNode }) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {note === undefined ? null : (
        <p id={`${id}-note`} className={error === undefined ? 'text-muted' : 'text-stop'}>
          {note}
        </p>
      )}
    </div>
  );
}

type FieldProps<Tag extends 'input' | 'textarea'> = FieldFrame & Omit<ComponentProps<Tag>, 'id'>;

/** A line of text with its label. */
export function Field({ label, hint, error, className = '', ...rest }: FieldProps<'input'>) {
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => <input {...rest} {...ids} className={`${LINE} ${className}`} />}
    </Frame>
  );
}

/** Several lines of text with their label. */
export function LongField({ label, hint, error, className = '', ...rest }: FieldProps<'textarea'>) {
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => <textarea spellCheck={false} {...rest} {...ids} className={`${CONTROL} py-1.5 ${className}`} />}
    </Frame>
  );
}

/** What can be chosen: the value, its title, and what else the page says of it. */
export type Options<Value> = readonly (readonly [value: Value, title: string, ...more: unknown[]])[];

/** The entries of a `select`. */
export const optionsOf = (options: Options<string | number>) =>
  options.map(([value, title]) => (
    <option key={value} value={value}>
      {title}
    </option>
  ));

interface ChoiceProps<Value> extends FieldFrame, Omit<ComponentProps<'select'>, 'id' | 'onChange' | 'value'> {
  readonly options: Options<Value>;
  /** Left out: the form has it, under the name of the field. */
  readonly value?: Value;
  readonly onChoose?: (value: Value) => void;
}

/** A choice of one. */
export function Choice<Value extends string | number>(props: ChoiceProps<Value>) {
  const { label, hint, error, options, onChoose, ...rest } = props;
  return (
    <Frame label={label} hint={hint} error={error}>
      {(ids) => (
        <select
          {...rest}
          {...ids}
          className={LINE}
          onChange={({ target }) => {
            const chosen = options.find(([value]) => String(value) === target.value);
            if (chosen !== undefined) onChoose?.(chosen[0]);
          }}
        >
          {optionsOf(options)}
        </select>
      )}
    </Frame>
  );
}
