/** What the link of a notice opens: one request, without a session. */

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, Problem, service } from '../../../api/client.ts';
import { singleQuery } from '../../../api/queries.ts';
import { type Approval, type Consent, type Denial, denialBody } from '../queries.ts';

/** The link's own credential, and no cookie beside it. */
const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, credentials: 'omit' }) as const;

export const linkRequestQuery = (token: string) =>
  singleQuery(['approval-link', token], () => bodyOf(service.GET('/api/approval', withToken(token))), {
    // The link ends with the decision, so what was shown is kept until the person leaves.
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

export const loadLinkAttachment = (token: string, aid: string): Promise<Blob> =>
  bodyOf(
    service.GET('/api/approval/attachments/{aid}', {
      ...withToken(token),
      params: { path: { aid } },
      parseAs: 'blob',
    }),
  );

export const loadLinkRaw = async (token: string): Promise<string> =>
  (await bodyOf(service.GET('/api/approval/raw', { ...withToken(token), parseAs: 'blob' }))).text();

/** A decision that was refused: the link says what became of the request, or shows the message as it is now. */
function useDecision<Input>(
  token: string,
  decide: (input: Input) => Promise<Consent>,
  onSuccess: (consent: Consent) => void,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: decide,
    onSuccess,
    onError: (error) =>
      error instanceof Problem && error.status === CONFLICT
        ? queries.invalidateQueries({ queryKey: linkRequestQuery(token).queryKey })
        : undefined,
  });
}

const CONFLICT = 409;

export const useApproveByLink = (token: string, onSuccess: (consent: Consent) => void) =>
  useDecision(
    token,
    (body: Approval) => bodyOf(service.POST('/api/approval/approve', { ...withToken(token), body })),
    onSuccess,
  );

export const useTakeBackByLink = (token: string, onSuccess: (consent: Consent) => void) =>
  useDecision(token, () => bodyOf(service.POST('/api/approval/take-back', withToken(token))), onSuccess);

export const useDenyByLink = (token: string, onSuccess: (consent: Consent) => void) =>
  useDecision(
    token,
    (denial: Denial) => bodyOf(service.POST('/api/approval/deny', { ...withToken(token), body: denialBody(denial) })),
    onSuccess,
  );

export const useSendBackByLink = (token: string, onSuccess: (consent: Consent) => void) =>
  useDecision(
    token,
    ({ reason: comment, sha256 }: Denial) =>
      bodyOf(service.POST('/api/approval/return', { ...withToken(token), body: { comment, sha256 } })),
    onSuccess,
  );
