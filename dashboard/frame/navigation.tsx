import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  Activity,
  Bell,
  Building2,
  Ellipsis,
  Gauge,
  Globe,
  Inbox,
  KeyRound,
  ListFilter,
  MailX,
  ScrollText,
  ShieldCheck,
  UserRound,
  Users,
  Webhook,
  X,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { waitingQuery } from '../api/queries.ts';
import { buttonClass } from '../components/frame/button.tsx';
import { setWaitingCount } from '../components/frame/page.tsx';

/** Pages of the navigation, in its order. */
const MAIN_PAGES = [
  { to: '/approvals', title: 'Approvals', Icon: ShieldCheck },
  { to: '/held-mail', title: 'Held mail', Icon: MailX },
  { to: '/mailboxes', title: 'Mailboxes', Icon: Inbox },
  { to: '/activity', title: 'Activity', Icon: Activity },
  { to: '/webhooks', title: 'Webhooks', Icon: Webhook },
  { to: '/domains', title: 'Domains', Icon: Globe },
] as const;

const SETTINGS_PAGES = [
  { to: '/settings/organization', title: 'Organization', Icon: Building2 },
  { to: '/settings/people', title: 'People', Icon: Users },
  { to: '/settings/keys', title: 'API keys', Icon: KeyRound },
  { to: '/settings/lists', title: 'Lists', Icon: ListFilter },
  { to: '/settings/suppressions', title: 'Suppressions', Icon: MailX },
  { to: '/settings/plan', title: 'Plan and usage', Icon: Gauge },
  { to: '/settings/notices', title: 'Notices', Icon: Bell },
  { to: '/settings/audit', title: 'Audit', Icon: ScrollText },
] as const;

/** Reached by the menu of the account. */
const ACCOUNT_PAGE = { to: '/settings/account', title: 'My account', Icon: UserRound } as const;

/** Pages in the bar of a phone; the others are under More. */
const PHONE_PAGES: readonly string[] = ['/approvals', '/mailboxes', '/activity'];

export const ALL_PAGES = [...MAIN_PAGES, ...SETTINGS_PAGES, ACCOUNT_PAGE];

const LINK =
  'flex h-8 items-center gap-2 rounded-md px-2 text-muted! no-underline hover:bg-sunken hover:text-text! data-[status=active]:bg-sunken data-[status=active]:font-medium data-[status=active]:text-text!';
const BAR_LINK =
  'relative flex h-12 flex-1 flex-col items-center justify-center gap-0.5 rounded-md px-1 text-xs text-muted! no-underline data-[status=active]:font-medium data-[status=active]:text-text!';

type Page = (typeof MAIN_PAGES | typeof SETTINGS_PAGES)[number];

/** Room for two digits: the page itself says how many. */
const COUNTED_MAX = 99;

/** How many messages wait for a decision, e.g. `3` or `99+`; empty: none. Also shown in front of the page's title. */
function useWaiting(): string {
  const { data } = useQuery(waitingQuery);
  const total = data?.total ?? 0;
  const shown = total === 0 ? '' : total > COUNTED_MAX ? `${COUNTED_MAX}+` : String(total);
  useEffect(() => {
    setWaitingCount(shown);
    return () => setWaitingCount('');
  }, [shown]);
  return shown;
}

/** The pages beside the content; on a phone a bar below it. */
export function Navigation() {
  const waiting = useWaiting();
  return (
    <>
      <nav aria-label="Pages" className="flex min-h-0 flex-col gap-0.5 overflow-y-auto max-sm:hidden">
        {MAIN_PAGES.map((page) => (
          <PageLink key={page.to} page={page} waiting={waiting} />
        ))}
        <p className="px-2 pt-4 pb-1 text-xs text-faint" id="settings-pages">
          Settings
        </p>
        {SETTINGS_PAGES.map((page) => (
          <PageLink key={page.to} page={page} waiting="" />
        ))}
      </nav>
      <PhoneBar waiting={waiting} />
    </>
  );
}

function PageLink({
  page: { to, title, Icon },
  waiting,
  onClick,
}: {
  readonly page: Page;
  readonly waiting: string;
  readonly onClick?: () => void;
}) {
  return (
    <Link to={to} className={`${LINK} max-sm:h-11`} {...(onClick === undefined ? {} : { onClick })}>
      <Icon size={16} aria-hidden />
      {title}
      {to === '/approvals' ? <Waiting waiting={waiting} className="ml-auto min-w-5 px-1.5 text-xs leading-5" /> : null}
    </Link>
  );
}

const Waiting = ({ waiting, className }: { readonly waiting: string; readonly className: string }) =>
  waiting === '' ? null : (
    <span className={`rounded-full bg-accent text-center font-semibold text-accent-text ${className}`}>
      {waiting}
      <span className="sr-only"> waiting</span>
    </span>
  );

function PhoneBar({ waiting }: { readonly waiting: string }) {
  const [open, setOpen] = useState(false);
  const others = [...MAIN_PAGES, ...SETTINGS_PAGES].filter(({ to }) => !PHONE_PAGES.includes(to));
  return (
    <nav
      aria-label="Pages"
      className="fixed inset-x-0 bottom-0 z-10 flex border-t border-line bg-panel p-1 pb-[max(4px,env(safe-area-inset-bottom))] sm:hidden"
    >
      {MAIN_PAGES.filter(({ to }) => PHONE_PAGES.includes(to)).map(({ to, title, Icon }) => (
        <Link key={to} to={to} className={BAR_LINK}>
          <Icon size={18} aria-hidden />
          {title}
          {to === '/approvals' ? (
            <Waiting waiting={waiting} className="absolute top-0.5 left-1/2 ml-2 min-w-4 px-1 text-[11px] leading-4" />
          ) : null}
        </Link>
      ))}
      <Dialog.Root open={open} onOpenChange={setOpen}>
        <Dialog.Trigger className={BAR_LINK}>
          <Ellipsis size={18} aria-hidden />
          More
        </Dialog.Trigger>
        <Dialog.Portal>
          <Dialog.Backdrop className="fixed inset-0 z-20 bg-black/40" />
          <Dialog.Popup className="fixed inset-x-0 bottom-0 z-20 grid max-h-[85vh] gap-0.5 overflow-y-auto rounded-t-lg border-t border-line bg-panel p-3 pb-6">
            <div className="flex items-center justify-between pl-2">
              <Dialog.Title className="font-semibold">More</Dialog.Title>
              <Dialog.Close aria-label="Close" className={buttonClass('quiet')}>
                <X size={16} aria-hidden />
              </Dialog.Close>
            </div>
            {others.map((page) => (
              <PageLink key={page.to} page={page} waiting="" onClick={() => setOpen(false)} />
            ))}
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </nav>
  );
}
