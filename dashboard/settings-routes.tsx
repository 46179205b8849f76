/** Pages under Settings and about domains. Their addresses say what they show. */
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { frame } from './frame-route.tsx';
import type { Action, Direction } from './scenes/lists/queries.ts';
import type { Days } from './scenes/plan/page.tsx';
import type { Reason } from './scenes/suppressions/queries.ts';

const DomainsPage = lazyRouteComponent(() => import('./scenes/domains/page.tsx'), 'DomainsPage');
const DomainPage = lazyRouteComponent(() => import('./scenes/domain/page.tsx'), 'DomainPage');
const OrganizationPage = lazyRouteComponent(() => import('./scenes/organization/page.tsx'), 'OrganizationPage');
const PeoplePage = lazyRouteComponent(() => import('./scenes/people/page.tsx'), 'PeoplePage');
const KeysPage = lazyRouteComponent(() => import('./scenes/keys/page.tsx'), 'KeysPage');
const ListsPage = lazyRouteComponent(() => import('./scenes/lists/page.tsx'), 'ListsPage');
const SuppressionsPage = lazyRouteComponent(() => import('./scenes/suppressions/page.tsx'), 'SuppressionsPage');
const PlanPage = lazyRouteComponent(() => import('./scenes/plan/page.tsx'), 'PlanPage');
const NoticesPage = lazyRouteComponent(() => import('./scenes/notices/page.tsx'), 'NoticesPage');
const AuditPage = lazyRouteComponent(() => import('./scenes/audit/page.tsx'), 'AuditPage');
const AccountPage = lazyRouteComponent(() => import('./scenes/account/page.tsx'), 'AccountPage');

type Search = Record<string, unknown>;

/** A value of the address that is one of a few, else the first of them. */
const oneOf = <Value extends string>(value: unknown, choices: readonly [Value, ...Value[]]): Value =>
  choices.find((choice) => choice === String(value)) ?? choices[0];

/** Texts of the address under these names; empty ones count as absent. */
function textsOf<Name extends string>(search: Search, names: readonly Name[]): { [Each in Name]?: string } {
  const texts: { [Each in Name]?: string } = {};
  for (const name of names) {
    const value = search[name];
    if (typeof value === 'string' && value !== '') texts[name] = value;
    // The router reads what looks like a number as one.
    else if (typeof value === 'number') texts[name] = String(value);
  }
  return texts;
}

const domains = createRoute({ getParentRoute: () => frame, path: '/domains', component: DomainsPage });

const domain = createRoute({
  getParentRoute: () => frame,
  path: '/domains/$id',
  component: function Domain() {
    return <DomainPage id={domain.useParams().id} />;
  },
});

const organization = createRoute({
  getParentRoute: () => frame,
  path: '/settings/organization',
  component: OrganizationPage,
});

const people = createRoute({ getParentRoute: () => frame, path: '/settings/people', component: PeoplePage });

const keys = createRoute({ getParentRoute: () => frame, path: '/settings/keys', component: KeysPage });

/** Where the keys were before. */
const oldKeys = createRoute({
  getParentRoute: () => frame,
  path: '/keys',
  beforeLoad: () => redirect({ to: '/settings/keys', replace: true, throw: true }),
});

const lists = createRoute({
  getParentRoute: () => frame,
  path: '/settings/lists',
  validateSearch: (search: Search): { direction: Direction; action: Action } => ({
    direction: oneOf(search['direction'], ['outbound', 'inbound']),
    action: oneOf(search['action'], ['allow', 'block']),
  }),
  component: function Lists() {
    const navigate = lists.useNavigate();
    const { direction, action } = lists.useSearch();
    return (
      <ListsPage
        direction={direction}
        action={action}
        onChoose={(nextDirection, nextAction) =>
          void navigate({ search: { direction: nextDirection, action: nextAction } })
        }
      />
    );
  },
});

const suppressions = createRoute({
  getParentRoute: () => frame,
  path: '/settings/suppressions',
  validateSearch: (search: Search): { address?: string; reason?: Reason } => ({
    ...textsOf(search, ['address']),
    ...(search['reason'] === undefined ? {} : { reason: oneOf(search['reason'], ['hard_bounce', 'complaint']) }),
  }),
  component: function Suppressions() {
    const navigate = suppressions.useNavigate();
    const { address = '', reason } = suppressions.useSearch();
    return (
      <SuppressionsPage
        filter={{ address, reason }}
        onFilter={(next) =>
          void navigate({
            replace: true,
            search: {
              ...(next.address === '' ? {} : { address: next.address }),
              ...(next.reason === undefined ? {} : { reason: next.reason }),
            },
          })
        }
      />
    );
  },
});

/** The first is the default. */
const DAYS: readonly [Days, ...Days[]] = ['30', '7', '90'];

const plan = createRoute({
  getParentRoute: () => frame,
  path: '/settings/plan',
  validateSearch: (search: Search): { days: number } => ({ days: Number(oneOf(search['days'], DAYS)) }),
  component: function Plan() {
    const navigate = plan.useNavigate();
    const days = oneOf(plan.useSearch().days, DAYS);
    return <PlanPage days={days} onDays={(next) => void navigate({ search: { days: Number(next) } })} />;
  },
});

const notices = createRoute({ getParentRoute: () => frame, path: '/settings/notices', component: NoticesPage });

const AUDIT_FILTERS = ['action', 'actor', 'target', 'from', 'until'] as const;

const audit = createRoute({
  getParentRoute: () => frame,
  path: '/settings/audit',
  validateSearch: (search: Search) => textsOf(search, AUDIT_FILTERS),
  component: function Audit() {
    const navigate = audit.useNavigate();
    return (
      <AuditPage
        // Again: what the raw address says otherwise shows through where a filter is left out.
        filter={textsOf(audit.useSearch(), AUDIT_FILTERS)}
        onFilter={(filter) => void navigate({ search: textsOf({ ...filter }, AUDIT_FILTERS), replace: true })}
      />
    );
  },
});

const account = createRoute({ getParentRoute: () => frame, path: '/settings/account', component: AccountPage });

export const settingsRoutes = [
  domains,
  domain,
  organization,
  people,
  keys,
  oldKeys,
  lists,
  suppressions,
  plan,
  notices,
  audit,
  account,
] as const;
