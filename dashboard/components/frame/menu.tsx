import { Menu as Base } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';

const ITEM =
  'flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 py-1 text-text! no-underline outline-none data-[highlighted]:bg-sunken max-sm:min-h-11';

/** Actions behind a button. */
export function Menu({
  label,
  trigger,
  triggerClass,
  children,
  side = 'bottom',
}: {
  /** Name of the button for people who do not see it. */
  readonly label: string;
  /** What is seen of the button; hidden from readers, who get the label. */
  readonly trigger: ReactNode;
  readonly triggerClass: string;
  readonly children: ReactNode;
  readonly side?: 'bottom' | 'top';
}) {
  return (
    <Base.Root>
      <Base.Trigger className={triggerClass}>
        <span className="sr-only">{label}</span>
        {trigger}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align="start" side={side} sideOffset={4} className="z-20">
          <Base.Popup className="max-h-[80vh] max-w-[calc(100vw-16px)] min-w-52 overflow-y-auto rounded-lg border border-line bg-panel p-1 outline-none">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({ onClick, children }: { readonly onClick: () => void; readonly children: ReactNode }) {
  return (
    <Base.Item onClick={onClick} className={ITEM}>
      {children}
    </Base.Item>
  );
}

export const MenuLine = () => <Base.Separator className="my-1 h-px bg-line" />;

/** A choice of one within a menu. */
export function MenuChoice({
  title,
  value,
  options,
  onChange,
}: {
  readonly title: string;
  readonly value: string | undefined;
  readonly options: readonly { readonly value: string; readonly title: string }[];
  readonly onChange: (value: string) => void;
}) {
  return (
    <Base.RadioGroup value={value} onValueChange={(next: string) => onChange(next)} aria-label={title}>
      <Base.Group>
        <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-xs text-faint">{title}</Base.GroupLabel>
        {options.map((option) => (
          <Base.RadioItem key={option.value} value={option.value} closeOnClick className={ITEM}>
            <span className="w-4">
              <Base.RadioItemIndicator>
                <Check size={16} aria-hidden />
              </Base.RadioItemIndicator>
            </span>
            <span className="min-w-0 truncate">{option.title}</span>
          </Base.RadioItem>
        ))}
      </Base.Group>
    </Base.RadioGroup>
  );
}
