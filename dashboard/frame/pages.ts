import {
  Activity,
  Bell,
  Building2,
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
} from 'lucide-react';

/** Pages of the navigation, in its order. */
export const MAIN_PAGES = [
  { to: '/approvals', title: 'Approvals', Icon: ShieldCheck },
  { to: '/mailboxes', title: 'Mailboxes', Icon: Inbox },
  { to: '/activity', title: 'Activity', Icon: Activity },
  { to: '/webhooks', title: 'Webhooks', Icon: Webhook },
  { to: '/domains', title: 'Domains', Icon: Globe },
] as const;

export const SETTINGS_PAGES = [
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
export const ACCOUNT_PAGE = { to: '/settings/account', title: 'My account', Icon: UserRound } as const;

/** Pages in the bar of a phone; the others are under More. */
export const PHONE_PAGES: readonly string[] = ['/approvals', '/mailboxes', '/activity'];

export const ALL_PAGES = [...MAIN_PAGES, ...SETTINGS_PAGES, ACCOUNT_PAGE];
export type PagePath = (typeof ALL_PAGES)[number]['to'];
