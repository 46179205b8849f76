/**
 * The pages by their addresses: the root of all routes, the pages before the sign-in, and the frame with the pages of
 * signed-in people. Each page is a file of its own, loaded when it is opened; the sign-in is part of the first script.
 *
 * An address says what its page shows. Of its parameters only texts are taken here; what they mean is up to the page.
 */
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
  Outlet,
  type RouteComponent,
  redirect,
  useRouter,
} from '@tanstack/react-router';
import { sessionQuery } from './api/session.ts';
import { PageHead, ProblemNote, Skeleton } from './components/frame/page.tsx';
import { Frame } from './frame/frame.tsx';
import type { Action, Direction } from './scenes/lists/queries.ts';
import type { Days } from './scenes/plan/page.tsx';
import { SignInPage } from './scenes/sign-in/page.tsx';
import type { Reason } from './scenes/suppressions/queries.ts';

const ApprovalsPage = lazyRouteComponent(() => import('./scenes/approvals/page.tsx'), 'ApprovalsPage');
const MailboxesPage = lazyRouteComponent(() => import('./scenes/mailboxes/page.tsx'), 'MailboxesPage');
const FirstRun = lazyRouteComponent(() => import('./scenes/first-run/first-run.tsx'), 'FirstRun');
const MailboxPage = lazyRouteComponent(() => import('./scenes/mailbox/page.tsx'), 'MailboxPage');
const ReaderPage = lazyRouteComponent(() => import('./scenes/reader/page.tsx'), 'ReaderPage');
const OutboxPage = lazyRouteComponent(() => import('./scenes/outbox/page.tsx'), 'OutboxPage');
const WebhooksPage = lazyRouteComponent(() => import('./scenes/webhooks/list.tsx'), 'WebhooksPage');
const WebhookPage = lazyRouteComponent(() => import('./scenes/webhooks/endpoint/page.tsx'), 'WebhookPage');
const DeliveryPage = lazyRouteComponent(() => import('./scenes/webhooks/delivery.tsx'), 'DeliveryPage');
const AuthorizePage = lazyRouteComponent(() => import('./scenes/authorize/page.tsx'), 'AuthorizePage');
const ActivityPage = lazyRouteComponent(() => import('./scenes/activity/page.tsx'), 'ActivityPage');
const DomainPage = lazyRouteComponent(() => import('./scenes/domains/domain-page.tsx'), 'DomainPage');
const ListsPage = lazyRouteComponent(() => import('./scenes/lists/page.tsx'), 'ListsPage');
const SuppressionsPage = lazyRouteComponent(() => import('./scenes/suppressions/page.tsx'), 'SuppressionsPage');
const PlanPage = lazyRouteComponent(() => import('./scenes/plan/page.tsx'), 'PlanPage');
const AuditPage = lazyRouteComponent(() => import('./scenes/audit/page.tsx'), 'AuditPage');

type Search = Readonly<Record<string, unknown>>;

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

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
});

function NotFound() {
  return (
    <div className="p-6">
      <PageHead title="There is no such page" />
      <p>
        <Link to="/mailboxes">Go to the mailboxes</Link>
      </p>
    </div>
  );
}

// Pages for people who are not signed in. The tokens of their links are behind the `#`, which no server sees.

/** A page of these pages: nothing that leads elsewhere, whatever the address says. */
const isOwnPath = (value: unknown): value is string => typeof value === 'string' && /^\/[a-z]/.test(value);

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  // Undefined, not absent: the raw address would show through.
  validateSearch: (search): { to?: string | undefined } => ({ to: isOwnPath(search['to']) ? search['to'] : undefined }),
  component: function SignIn() {
    return <SignInPage to={signIn.useSearch().to ?? '/'} />;
  },
});

const entryPage = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => root, path, component });

const entryPages = [
  signIn,
  /** Where an OpenID provider leads back to. */
  entryPage(
    '/sign-in/oidc',
    lazyRouteComponent(() => import('./scenes/sign-in/single-sign-on.tsx'), 'SingleSignOnPage'),
  ),
  entryPage(
    '/accept-invitation',
    lazyRouteComponent(() => import('./scenes/sign-in/accept-invitation.tsx'), 'AcceptInvitationPage'),
  ),
  entryPage(
    '/forgot-password',
    lazyRouteComponent(() => import('./scenes/sign-in/forgot-password.tsx'), 'ForgotPasswordPage'),
  ),
  entryPage(
    '/reset-password',
    lazyRouteComponent(() => import('./scenes/sign-in/reset-password.tsx'), 'ResetPasswordPage'),
  ),
  /** Signed in with the operator key. */
  entryPage(
    '/operators',
    lazyRouteComponent(() => import('./scenes/operators/page.tsx'), 'OperatorsPage'),
  ),
  /** The link of a notice opens one request, also without a session. */
  entryPage(
    '/approve',
    lazyRouteComponent(() => import('./scenes/approvals/link/page.tsx'), 'ApprovalLinkPage'),
  ),
] as const;

// Pages of signed-in people.

const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  notFoundComponent: NotFound,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (session === null) redirect({ to: '/sign-in', search: { to: location.href }, throw: true });
  },
});

const index = createRoute({
  getParentRoute: () => frame,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { landingPage } = await import('./scenes/first-run/steps.ts');
    redirect({ to: await landingPage(context.queries), throw: true });
  },
});

/** Where the keys were before. */
const oldKeys = createRoute({
  getParentRoute: () => frame,
  path: '/keys',
  beforeLoad: () => redirect({ to: '/settings/keys', replace: true, throw: true }),
});

const DECIDED = ['approved', 'denied', 'standing', 'several'] as const;
const QUEUE = ['open', 'from', 'to', 'q', 'reason', 'age', 'order'] as const;

const approvals = createRoute({
  getParentRoute: () => frame,
  path: '/approvals',
  validateSearch: (search): Partial<Record<(typeof QUEUE)[number], string>> & { show?: (typeof DECIDED)[number] } => {
    const show = DECIDED.find((each) => each === search['show']);
    return { ...textsOf(search, QUEUE), ...(show === undefined ? {} : { show }) };
  },
  component: function Approvals() {
    const navigate = approvals.useNavigate();
    return <ApprovalsPage {...approvals.useSearch()} onSearch={(search) => void navigate({ search, replace: true })} />;
  },
});

const MAILBOX_STATES = ['active', 'pending', 'suspended', 'expired'] as const;

const mailboxes = createRoute({
  getParentRoute: () => frame,
  path: '/mailboxes',
  validateSearch: (search): { q?: string; status?: (typeof MAILBOX_STATES)[number] } => {
    const status = MAILBOX_STATES.find((each) => each === search['status']);
    return { ...textsOf(search, ['q']), ...(status === undefined ? {} : { status }) };
  },
  component: function Mailboxes() {
    const navigate = mailboxes.useNavigate();
    const { q = '', status } = mailboxes.useSearch();
    return (
      <>
        <FirstRun />
        <MailboxesPage
          filter={{ q: String(q), status }}
          onFilter={({ q: text, status: state }) =>
            void navigate({
              search: { ...(text === '' ? {} : { q: text }), ...(state === undefined ? {} : { status: state }) },
              replace: true,
            })
          }
        />
      </>
    );
  },
});

const MAILBOX_TABS = ['overview', 'connect', 'tokens', 'settings'] as const;

const mailbox = createRoute({
  getParentRoute: () => frame,
  path: '/mailboxes/$id',
  validateSearch: (search): { tab?: (typeof MAILBOX_TABS)[number] } => {
    const tab = MAILBOX_TABS.find((each) => each === search['tab']);
    return tab === undefined ? {} : { tab };
  },
  component: function Mailbox() {
    const navigate = mailbox.useNavigate();
    return (
      <MailboxPage
        id={mailbox.useParams().id}
        tab={mailbox.useSearch().tab ?? 'overview'}
        onTab={(tab) => void navigate({ search: tab === 'overview' ? {} : { tab }, replace: true })}
      />
    );
  },
});

const reader = createRoute({
  getParentRoute: () => frame,
  path: '/mailboxes/$id/mail',
  validateSearch: (search) => textsOf(search, ['folder', 'label', 'q', 'by', 'open', 'compose']),
  component: function Reader() {
    const navigate = reader.useNavigate();
    const { id } = reader.useParams();
    return (
      <ReaderPage
        key={id}
        id={id}
        address={reader.useSearch()}
        onSearch={(search, how) => void navigate({ search: { ...search }, replace: how?.replace ?? false })}
      />
    );
  },
});

const outbox = createRoute({
  getParentRoute: () => frame,
  path: '/mailboxes/$id/outbox',
  component: function Outbox() {
    const { id } = outbox.useParams();
    return <OutboxPage key={id} id={id} />;
  },
});

const webhooks = createRoute({
  getParentRoute: () => frame,
  path: '/webhooks',
  validateSearch: (search) => textsOf(search, ['mailbox']),
  component: function Webhooks() {
    return <WebhooksPage mailbox={webhooks.useSearch().mailbox ?? ''} />;
  },
});

const webhook = createRoute({
  getParentRoute: () => frame,
  path: '/webhooks/$id',
  validateSearch: (search) => textsOf(search, ['status', 'eventType', 'reason', 'responseCode', 'since', 'until']),
  component: function Webhook() {
    const navigate = webhook.useNavigate();
    return (
      <WebhookPage
        id={webhook.useParams().id}
        search={webhook.useSearch()}
        onFilters={(search) => void navigate({ search: { ...search }, replace: true, resetScroll: false })}
      />
    );
  },
});

const delivery = createRoute({
  getParentRoute: () => frame,
  path: '/webhooks/$id/deliveries/$did',
  component: function Delivery() {
    const { id, did } = delivery.useParams();
    return <DeliveryPage key={did} id={id} did={did} />;
  },
});

const activity = createRoute({
  getParentRoute: () => frame,
  path: '/activity',
  validateSearch: (search) => textsOf(search, ['q']),
  component: function Activity() {
    const navigate = activity.useNavigate();
    const { q } = activity.useSearch();
    return (
      <ActivityPage
        q={String(q ?? '')}
        onSearch={(next) => void navigate({ search: next === '' ? {} : { q: next } })}
      />
    );
  },
});

/** Where a program sends its person, to ask for a mailbox by OAuth. */
const authorize = createRoute({
  getParentRoute: () => frame,
  path: '/authorize',
  validateSearch: (search) => textsOf(search, ['request']),
  component: function Authorize() {
    return <AuthorizePage request={authorize.useSearch().request ?? ''} />;
  },
});

const domain = createRoute({
  getParentRoute: () => frame,
  path: '/domains/$id',
  component: function Domain() {
    return <DomainPage id={domain.useParams().id} />;
  },
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
    return (
      <ListsPage
        {...lists.useSearch()}
        onChoose={(direction, action) => void navigate({ search: { direction, action } })}
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

/** A page whose address says nothing but which page it is. */
const page = <Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => frame, path, component });

const plainPages = [
  /** Where a terminal sends its person, to confirm the code that it shows. */
  page(
    '/device',
    lazyRouteComponent(() => import('./scenes/authorize/device.tsx'), 'DevicePage'),
  ),
  page(
    '/domains',
    lazyRouteComponent(() => import('./scenes/domains/page.tsx'), 'DomainsPage'),
  ),
  page(
    '/settings/organization',
    lazyRouteComponent(() => import('./scenes/organization/page.tsx'), 'OrganizationPage'),
  ),
  page(
    '/settings/people',
    lazyRouteComponent(() => import('./scenes/people/page.tsx'), 'PeoplePage'),
  ),
  page(
    '/settings/keys',
    lazyRouteComponent(() => import('./scenes/keys/page.tsx'), 'KeysPage'),
  ),
  page(
    '/held-mail',
    lazyRouteComponent(() => import('./scenes/held-mail/page.tsx'), 'HeldMailPage'),
  ),
  page(
    '/settings/notices',
    lazyRouteComponent(() => import('./scenes/notices/page.tsx'), 'NoticesPage'),
  ),
  page(
    '/settings/account',
    lazyRouteComponent(() => import('./scenes/account/page.tsx'), 'AccountPage'),
  ),
] as const;

const framePages = [
  index,
  oldKeys,
  approvals,
  mailboxes,
  mailbox,
  reader,
  outbox,
  webhooks,
  webhook,
  delivery,
  activity,
  authorize,
  domain,
  lists,
  suppressions,
  plan,
  audit,
  ...plainPages,
] as const;

export const createDashboardRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: root.addChildren([...entryPages, frame.addChildren(framePages)]),
    context: { queries },
    defaultErrorComponent: Failed,
    defaultPendingComponent: Skeleton,
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}

function Failed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <div className="py-6">
      <ProblemNote
        error={error}
        onRetry={() => {
          reset();
          void router.invalidate();
        }}
      />
    </div>
  );
}
