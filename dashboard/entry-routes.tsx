/** Pages for people who are not signed in. The tokens of their links are behind the `#`, which no server sees. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { root } from './frame-route.tsx';
import { SignInPage } from './scenes/sign-in/page.tsx';

const AcceptInvitationPage = lazyRouteComponent(
  () => import('./scenes/accept-invitation/page.tsx'),
  'AcceptInvitationPage',
);
const ForgotPasswordPage = lazyRouteComponent(() => import('./scenes/forgot-password/page.tsx'), 'ForgotPasswordPage');
const ResetPasswordPage = lazyRouteComponent(() => import('./scenes/reset-password/page.tsx'), 'ResetPasswordPage');
const ApprovalLinkPage = lazyRouteComponent(() => import('./scenes/approvals/link/link-page.tsx'), 'ApprovalLinkPage');

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  // Undefined, not absent: the raw address would show through.
  validateSearch: (search): { to?: string | undefined } => ({ to: isOwnPath(search['to']) ? search['to'] : undefined }),
  component: function SignIn() {
    return <SignInPage to={signIn.useSearch().to ?? '/'} />;
  },
});

/** A page of these pages: nothing that leads elsewhere, whatever the address says. */
const isOwnPath = (value: unknown): value is string => typeof value === 'string' && /^\/[a-z]/.test(value);

const acceptInvitation = createRoute({
  getParentRoute: () => root,
  path: '/accept-invitation',
  component: AcceptInvitationPage,
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: ForgotPasswordPage,
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: ResetPasswordPage,
});

/** The link of a notice opens one request, also without a session. */
const approve = createRoute({ getParentRoute: () => root, path: '/approve', component: ApprovalLinkPage });

export const entryRoutes = [signIn, acceptInvitation, forgotPassword, resetPassword, approve] as const;
