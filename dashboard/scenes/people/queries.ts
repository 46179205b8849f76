import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, useChange } from '../../api/queries.ts';

export type Member = Schemas['Member'];
export type Role = Member['role'];
export type Invitation = Schemas['Invitation'];
export type NewInvitation = Schemas['InvitationWithToken'];

export const membersQuery = pagedQuery(['people', 'members'], (from) =>
  bodyOf(service.GET('/api/members', { params: { query: from } })),
);

export const invitationsQuery = pagedQuery(['people', 'invitations'], (from) =>
  bodyOf(service.GET('/api/invitations', { params: { query: from } })),
);

/** One's own role and membership are in the session as well. */
const useChangeOfPeople = <Input, Result>(change: (input: Input) => Promise<Result>) =>
  useChange(change, ['people'], ['session']);

export const useInvite = () =>
  useChangeOfPeople((body: { email: string; role: Role }) => bodyOf(service.POST('/api/members', { body })));

export const useChangeRole = () =>
  useChangeOfPeople(({ id, role }: { id: string; role: Role }) =>
    bodyOf(service.PATCH('/api/members/{id}', { params: { path: { id } }, body: { role } })),
  );

/** Creates a link by which a member chooses a new password. The service does not send it: the owner must hand it over. */
export const useResetPassword = () =>
  useChangeOfPeople((id: string) =>
    bodyOf(service.POST('/api/members/{id}/password-reset', { params: { path: { id } } })),
  );

/** For a person who has lost the device and the recovery codes. */
export const useResetSecondFactor = () =>
  useChangeOfPeople((id: string) =>
    done(service.POST('/api/members/{id}/second-factor-reset', { params: { path: { id } } })),
  );

export const useRemoveMember = () =>
  useChangeOfPeople((id: string) => done(service.DELETE('/api/members/{id}', { params: { path: { id } } })));

export const useWithdrawInvitation = () =>
  useChangeOfPeople((id: string) => done(service.DELETE('/api/invitations/{id}', { params: { path: { id } } })));
