import { keepPreviousData, queryOptions, useMutation } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { singleQuery } from '../../api/queries.ts';

export type OAuthRequest = Schemas['OAuthRequest'];
export type Access = OAuthRequest['accesses'][number];

/** Who asks. The service fetches the document of the program for it, so it is asked once. */
export const requestQuery = (query: string) =>
  singleQuery(['oauth-request', query], () => bodyOf(service.POST('/api/oauth/requests', { body: { query } })), {
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    enabled: query !== '',
  });

const MAILBOXES_SHOWN_MAX = 100;

export const mailboxChoicesQuery = (q: string) =>
  queryOptions({
    queryKey: ['mailboxes', 'to-connect', q],
    queryFn: () => {
      const query = { limit: MAILBOXES_SHOWN_MAX, ...(q === '' ? {} : { q }) };
      return bodyOf(service.GET('/api/mailboxes', { params: { query } }));
    },
    placeholderData: keepPreviousData,
  });

/** Null: refuse it. */
export type Decision = { readonly mailboxId: string; readonly access: Access } | null;

/** Decides, and leaves for the address that the program waits at. */
export const useDecide = (id: string) =>
  useMutation({
    mutationFn: (decision: Decision) =>
      bodyOf(
        service.POST('/api/oauth/requests/{id}/decide', {
          params: { path: { id } },
          body: decision === null ? { approve: false } : { approve: true, ...decision },
        }),
      ),
    onSuccess: ({ redirectUrl }) => {
      if (redirectUrl !== null) location.assign(redirectUrl);
    },
  });

/** The query of the program, as the service put it into the address: `q` and base64url. Empty: there is none. */
export function queryOfRequest(request: string): string {
  try {
    return request.startsWith('q') ? atob(request.slice(1).replaceAll('-', '+').replaceAll('_', '/')) : '';
  } catch {
    return '';
  }
}

export const useLookAtDevice = () =>
  useMutation({
    mutationFn: (userCode: string) => bodyOf(service.POST('/api/device-sign-ins/look', { body: { userCode } })),
  });

export const useDecideDevice = () =>
  useMutation({
    mutationFn: (body: { userCode: string; approve: boolean }) =>
      done(service.POST('/api/device-sign-ins/decide', { body })),
  });
