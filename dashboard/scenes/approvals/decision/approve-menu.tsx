import { Menu } from '@base-ui/react/menu';
import { ChevronDown } from 'lucide-react';
import type { Ref } from 'react';
import { buttonClass } from '../../../components/frame/button.tsx';
import type { ApprovalScope } from '../queries.ts';

/** What an approval covers, as a menu under one button. */
export function ApproveMenu({
  label,
  recipients,
  busy,
  disabled = false,
  onApprove,
  trigger,
}: {
  readonly label: string;
  /** Addresses the approval is about. */
  readonly recipients: readonly string[];
  readonly busy: boolean;
  /** It is not to be pressed yet. */
  readonly disabled?: boolean;
  readonly onApprove: (scope: ApprovalScope) => void;
  readonly trigger?: Ref<HTMLButtonElement>;
}) {
  return (
    <Menu.Root>
      <Menu.Trigger
        ref={trigger}
        disabled={busy || disabled}
        aria-busy={busy || undefined}
        className={buttonClass('primary', 'max-sm:flex-1')}
      >
        {label} <ChevronDown size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="start" sideOffset={4} className="z-20">
          <Menu.Popup className="max-w-[min(380px,calc(100vw-24px))] rounded-lg border border-line bg-panel p-1">
            {scopesFor(recipients).map(([scope, title, sentence]) => (
              <Menu.Item
                key={scope}
                onClick={() => onApprove(scope)}
                className="cursor-default rounded-md px-3 py-2 data-[highlighted]:bg-sunken"
              >
                <span className="block font-medium">{title}</span>
                <span className="block text-muted wrap-anywhere">{sentence}</span>
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function scopesFor(recipients: readonly string[]): readonly (readonly [ApprovalScope, string, string])[] {
  const domains = [...new Set(recipients.map((each) => each.slice(each.lastIndexOf('@') + 1)))];
  return [
    ['message', 'This message', 'Only this message and answers in its thread.'],
    [
      'address',
      recipients.length === 1 ? 'This address' : 'These addresses',
      `This message, and everything to ${listed(recipients)} from now on.`,
    ],
    [
      'domain',
      domains.length === 1 ? 'This domain' : 'These domains',
      `This message, and everything to everybody at ${listed(domains)} from now on.`,
    ],
  ];
}

const NAMED_MAX = 3;

const listed = (names: readonly string[]): string =>
  names.length <= NAMED_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMED_MAX - 1).join(', ')} and ${names.length - NAMED_MAX + 1} more`;
