import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, chooseOrganization, done, type Schemas, service } from '../../api/client.ts';
import { singleQuery } from '../../api/queries.ts';
import { signedIn } from '../../api/session.ts';

/** Succeeds whether the address has an account or not. */
export const useAskForReset = () =>
  useMutation({ mutationFn: (email: string) => done(service.POST('/api/password-resets', { body: { email } })) });

export const useResetPassword = () =>
  useMutation({
    mutationFn: (body: { token: string; password: string }) =>
      done(service.POST('/api/password-resets/accept', { body })),
  });

export type InvitationLook = Schemas['InvitationLook'];

/** What an invitation is for. */
export const invitationQuery = (token: string) =>
  singleQuery(['invitation', token], () => bodyOf(service.POST('/api/invitations/look', { body: { token } })), {
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Makes the person a member and signs in. @param organizationName is shown then */
export function useAcceptInvitation(organizationName: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { token: string; name?: string; password: string }) =>
      bodyOf(service.POST('/api/invitations/accept', { body: { ...body, cookie: true } })),
    onSuccess: async (body) => {
      if ('challenge' in body) return;
      const { organizations } = body;
      // In the order in which they were joined.
      const joined = organizations.findLast(({ name }) => name === organizationName);
      if (joined !== undefined) chooseOrganization(joined.id);
      await queries.resetQueries({ queryKey: ['session'] });
    },
  });
}

/** The second step of a sign-in, by a code or by a passkey. @param email of the account */
export function useSecondStep(email: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ challenge, code }: { challenge: string; code: string | null }) => {
      const proof =
        code === null ? { passkey: await (await import('../../api/passkeys.ts')).passkeyOfStep(challenge) } : { code };
      return bodyOf(service.POST('/api/sessions/second-factor', { body: { challenge, ...proof, cookie: true } }));
    },
    meta: { automatic: true },
    onSuccess: () => signedIn(queries, email),
  });
}

/** Signs in with a passkey alone. */
export function usePasskeySignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => (await import('../../api/passkeys.ts')).signInByPasskey(),
    meta: { automatic: true },
    onSuccess: ({ user }) => signedIn(queries, user.email),
  });
}

/** Whether people sign in by an OpenID provider. */
export const singleSignOnQuery = singleQuery(['single-sign-on'], () => bodyOf(service.GET('/api/sessions/oidc')), {
  staleTime: Number.POSITIVE_INFINITY,
});

const BEGUN = 'agent-mailbox.single-sign-on';

/** Leads the browser to the provider. @param to where to go after the return */
export const useBeginSingleSignOn = (to: string) =>
  useMutation({
    mutationFn: async () => {
      const { url, browserKey } = await bodyOf(service.POST('/api/sessions/oidc/begin'));
      sessionStorage.setItem(BEGUN, JSON.stringify({ browserKey, to }));
      location.assign(url);
    },
  });

/** What this tab kept for its return, once. */
export function takeBegun(): { readonly browserKey: string; readonly to: string } {
  const { browserKey, to }: { browserKey?: unknown; to?: unknown } = Object(
    JSON.parse(sessionStorage.getItem(BEGUN) ?? 'null'),
  );
  sessionStorage.removeItem(BEGUN);
  return {
    browserKey: typeof browserKey === 'string' ? browserKey : 'none',
    to: typeof to === 'string' && to.startsWith('/') && !to.startsWith('//') ? to : '/',
  };
}

export const useFinishSingleSignOn = () =>
  useMutation({
    mutationFn: (body: { query: string; browserKey: string }) =>
      bodyOf(service.POST('/api/sessions/oidc', { body: { ...body, cookie: true } })),
    meta: { automatic: true },
  });

export const useLinkSingleSignOn = () =>
  useMutation({
    mutationFn: (body: { link: string; password: string }) =>
      bodyOf(service.POST('/api/sessions/oidc/link', { body: { ...body, cookie: true } })),
    meta: { automatic: true },
  });

/**
 * The credential of a link, from behind the `#` of the address, where no server and no log sees it. It is taken out of
 * the address, so that it stays neither in the history nor in a screenshot; a reload of the page needs the link again.
 *
 * @returns undefined when there is none
 */
export function useLinkToken(): string | undefined {
  const [token] = useState(() => decodeURIComponent(location.hash.slice(1)));
  // Not in an effect: nothing that runs after the page is shown may find it in the address.
  if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
  return token === '' ? undefined : token;
}
