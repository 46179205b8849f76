import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, chooseOrganization, type Schemas, service } from '../../api/client.ts';

export type InvitationLook = Schemas['InvitationLook'];

/** What an invitation is for. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: () => bodyOf(service.POST('/api/invitations/look', { body: { token } })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Makes the person a member and signs in. @param organizationName is shown then */
export function useAcceptInvitation(organizationName: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { token: string; name?: string; password: string }) =>
      bodyOf(service.POST('/api/invitations/accept', { body: { ...body, cookie: true } })),
    onSuccess: async ({ organizations }) => {
      // In the order in which they were joined.
      const joined = organizations.findLast(({ name }) => name === organizationName);
      if (joined !== undefined) chooseOrganization(joined.id);
      await queries.resetQueries({ queryKey: ['session'] });
    },
  });
}
