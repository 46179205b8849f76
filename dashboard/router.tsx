import type { QueryClient } from '@tanstack/react-query';
import {
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  redirect,
  useRouter,
} from '@tanstack/react-router';
import { ProblemNote } from './components/frame/problem-note.tsx';
import { Skeleton } from './components/frame/skeleton.tsx';
import { entryRoutes } from './entry-routes.tsx';
import { frame, root } from './frame-route.tsx';
import { readerSearch } from './scenes/reader/view.ts';
import { deliveryFilters } from './scenes/webhooks/search-params.ts';
import { settingsRoutes } from './settings-routes.tsx';

// Each page is a file of its own, loaded when it is opened.
const ApprovalsPage = lazyRouteComponent(() => import('./scenes/approvals/page.tsx'), 'ApprovalsPage');
const MailboxesPage = lazyRouteComponent(() => import('./scenes/mailboxes/page.tsx'), 'MailboxesPage');
const FirstRun = lazyRouteComponent(() => import('./scenes/first-run/first-run.tsx'), 'FirstRun');
const MailboxPage = lazyRouteComponent(() => import('./scenes/mailbox/page.tsx'), 'MailboxPage');
const ReaderPage = lazyRouteComponent(() => import('./scenes/reader/page.tsx'), 'ReaderPage');
const OutboxPage = lazyRouteComponent(() => import('./scenes/outbox/page.tsx'), 'OutboxPage');
const WebhooksPage = lazyRouteComponent(() => import('./scenes/webhooks/list/page.tsx'), 'WebhooksPage');
const WebhookPage = lazyRouteComponent(() => import('./scenes/webhooks/endpoint/webhook-page.tsx'), 'WebhookPage');
const DeliveryPage = lazyRouteComponent(() => import('./scenes/webhooks/delivery/delivery-page.tsx'), 'DeliveryPage');
const DevicePage = lazyRouteComponent(() => import('./scenes/device/page.tsx'), 'DevicePage');
const AuthorizePage = lazyRouteComponent(() => import('./scenes/authorize/page.tsx'), 'AuthorizePage');
const ActivityPage = lazyRouteComponent(() => import('./scenes/activity/page.tsx'), 'ActivityPage');

const MAILBOX_STATES = ['active', 'pending', 'suspended', 'deleting'] as const;
type MailboxState = (typeof MAILBOX_STATES)[number];
const MAILBOX_TABS = ['overview', 'connect', 'tokens', 'settings'] as const;

const index = createRoute({
  getParentRoute: () => frame,
  path: '/',
  beforeLoad: async ({ context }) => {
    const { landingPage } = await import('./scenes/first-run/landing.ts');
    redirect({ to: await landingPage(context.queries), throw: true });
  },
});

const approvals = createRoute({
  getParentRoute: () => frame,
  path: '/approvals',
  validateSearch: (search): { open?: string; show?: 'approved' | 'denied' } => ({
    ...(typeof search['open'] === 'string' ? { open: search['open'] } : {}),
    ...(search['show'] === 'approved' || search['show'] === 'denied' ? { show: search['show'] } : {}),
  }),
  component: function Approvals() {
    const navigate = approvals.useNavigate();
    return <ApprovalsPage {...approvals.useSearch()} onSearch={(search) => void navigate({ search, replace: true })} />;
  },
});

const mailboxes = createRoute({
  getParentRoute: () => frame,
  path: '/mailboxes',
  validateSearch: (search): { q?: string; status?: MailboxState } => {
    const status = MAILBOX_STATES.find((each) => each === search['status']);
    return {
      ...(typeof search['q'] === 'string' ? { q: search['q'] } : {}),
      ...(status === undefined ? {} : { status }),
    };
  },
  component: function Mailboxes() {
    const navigate = mailboxes.useNavigate();
    const { q = '', status } = mailboxes.useSearch();
    return (
      <>
        <FirstRun />
        <MailboxesPage
          filter={{ q, status }}
          onFilter={(next) =>
            void navigate({
              search: {
                ...(next.q === '' ? {} : { q: next.q }),
                ...(next.status === undefined ? {} : { status: next.status }),
              },
              replace: true,
            })
          }
        />
      </>
    );
  },
});

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
  validateSearch: readerSearch,
  component: function Reader() {
    const navigate = reader.useNavigate();
    const { id } = reader.useParams();
    return (
      <ReaderPage
        key={id}
        id={id}
        search={reader.useSearch()}
        onSearch={(search, how) => void navigate({ search, replace: how?.replace ?? false })}
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
  validateSearch: (search): { mailbox?: string } =>
    typeof search['mailbox'] === 'string' ? { mailbox: search['mailbox'] } : {},
  component: function Webhooks() {
    return <WebhooksPage mailbox={webhooks.useSearch().mailbox ?? ''} />;
  },
});

const webhook = createRoute({
  getParentRoute: () => frame,
  path: '/webhooks/$id',
  validateSearch: deliveryFilters,
  component: function Webhook() {
    const navigate = webhook.useNavigate();
    // Again: what the raw address says otherwise shows through where a filter is left out.
    const filters = deliveryFilters(webhook.useSearch());
    return (
      <WebhookPage
        id={webhook.useParams().id}
        filters={filters}
        onFilters={(search) => void navigate({ search, replace: true, resetScroll: false })}
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
  // A text of digits comes as a number.
  validateSearch: (search): { q?: string } =>
    ['string', 'number'].includes(typeof search['q']) ? { q: String(search['q']) } : {},
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

/** Where a terminal sends its person, to confirm the code that it shows. */
const device = createRoute({ getParentRoute: () => frame, path: '/device', component: DevicePage });

/** Where a program sends its person, to ask for a mailbox by OAuth. */
const authorize = createRoute({
  getParentRoute: () => frame,
  path: '/authorize',
  validateSearch: (search): { request?: string } =>
    typeof search['request'] === 'string' ? { request: search['request'] } : {},
  component: function Authorize() {
    return <AuthorizePage request={authorize.useSearch().request ?? ''} />;
  },
});

const routeTree = root.addChildren([
  ...entryRoutes,
  frame.addChildren([
    index,
    approvals,
    mailboxes,
    mailbox,
    reader,
    outbox,
    webhooks,
    webhook,
    delivery,
    activity,
    device,
    authorize,
    ...settingsRoutes,
  ]),
]);

export const createDashboardRouter = (queries: QueryClient) =>
  createRouter({
    routeTree,
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
