import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';

export type SessionOfList = Schemas['SessionOfList'];

/** Where the person is signed in. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async () => (await bodyOf(service.GET('/api/sessions'))).data,
});

function useChange<Input>(change: (input: Input) => Promise<void>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['sessions'] }),
  });
}

export const useEndSession = () =>
  useChange((id: string) => done(service.DELETE('/api/sessions/{id}', { params: { path: { id } } })));

export const useEndOtherSessions = () => useChange<undefined>(() => done(service.DELETE('/api/sessions')));

/** Ends all other sessions of the person. */
export const useChangePassword = () =>
  useChange((body: { currentPassword: string; newPassword: string }) =>
    done(service.PUT('/api/sessions/current/password', { body })),
  );
