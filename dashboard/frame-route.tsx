/** The root of all routes, and the frame around those of signed-in people. */
import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, Link, Outlet, redirect } from '@tanstack/react-router';
import { sessionQuery } from './api/session.ts';
import { PageHead } from './components/frame/page-head.tsx';
import { Frame } from './frame/frame.tsx';

export const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
});

export const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  notFoundComponent: NotFound,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (session === null) redirect({ to: '/sign-in', search: { to: location.href }, throw: true });
  },
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
