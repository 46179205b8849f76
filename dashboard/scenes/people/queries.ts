import { infiniteQueryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type Member = Schemas['Member'];
export type Role = Member['role'];
export type Invitation = Schemas['Invitation'];
export type NewInvitation = Schemas['InvitationWithToken'];

export const membersQuery = infiniteQueryOptions({
  queryKey: ['people', 'members'],
  queryFn: ({ pageParam }) =>
    bodyOf(service.GET('/api/members', { params: { query: pageParam === null ? {} : { cursor: pageParam } } })),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.nextCursor,
});

export const invitationsQuery = infiniteQueryOptions({
  queryKey: ['people', 'invitations'],
  queryFn: ({ pageParam }) =>
    bodyOf(service.GET('/api/invitations', { params: { query: pageParam === null ? {} : { cursor: pageParam } } })),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.nextCursor,
});

function useChange<Input, Result>(change: (input: Input) => Promise<Result>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    // One's own role and membership stand in the session as well.
    onSuccess: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['people'] }),
        queries.invalidateQueries({ queryKey: ['session'] }),
      ]),
  });
}

export const useInvite = () =>
  useChange((body: { email: string; role: Role }) => bodyOf(service.POST('/api/members', { body })));

export const useChangeRole = () =>
  useChange(({ id, role }: { id: string; role: Role }) =>
    bodyOf(service.PATCH('/api/members/{id}', { params: { path: { id } }, body: { role } })),
  );

/** Creates a link by which a member chooses a new password. The service does not send it: the owner must hand it over. */
export const useResetPassword = () =>
  useChange((id: string) => bodyOf(service.POST('/api/members/{id}/password-reset', { params: { path: { id } } })));

export const useRemoveMember = () =>
  useChange((id: string) => done(service.DELETE('/api/members/{id}', { params: { path: { id } } })));

export const useWithdrawInvitation = () =>
  useChange((id: string) => done(service.DELETE('/api/invitations/{id}', { params: { path: { id } } })));
