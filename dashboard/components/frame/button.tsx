import type { ComponentProps } from 'react';

const LOOKS = {
  primary: 'bg-accent border-accent text-accent-text hover:opacity-90',
  plain: 'bg-panel border-line-strong hover:bg-sunken',
  quiet: 'border-transparent text-muted hover:bg-sunken hover:text-text',
  stop: 'bg-panel border-line-strong text-stop hover:bg-stop-soft',
} as const;

export interface ButtonProps extends ComponentProps<'button'> {
  /** Default: plain. One primary action a page. */
  readonly look?: keyof typeof LOOKS;
  /** The action of this button is running: it cannot be pressed again. */
  readonly busy?: boolean;
}

export const buttonClass = (look: keyof typeof LOOKS = 'plain', className = ''): string =>
  `inline-flex h-8 items-center justify-center gap-1.5 whitespace-nowrap rounded-md border px-3 font-medium no-underline transition-colors disabled:cursor-default disabled:opacity-50 max-sm:h-11 ${LOOKS[look]} ${className}`;

export function Button({
  look = 'plain',
  busy = false,
  className = '',
  disabled,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      aria-busy={busy || undefined}
      disabled={disabled === true || busy}
      className={buttonClass(look, className)}
      {...rest}
    />
  );
}
