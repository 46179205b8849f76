import { queryOptions } from '@tanstack/react-query';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { useChange } from '../../api/queries.ts';

export type SessionOfList = Schemas['SessionOfList'];

const SESSIONS = ['sessions'];

/** Where the person is signed in. */
export const sessionsQuery = queryOptions({
  queryKey: SESSIONS,
  queryFn: async () => (await bodyOf(service.GET('/api/sessions'))).data,
});

export const useEndSession = () =>
  useChange((id: string) => done(service.DELETE('/api/sessions/{id}', { params: { path: { id } } })), SESSIONS);

export const useEndOtherSessions = () => useChange<void, void>(() => done(service.DELETE('/api/sessions')), SESSIONS);

/** Ends all other sessions of the person. */
export const useChangePassword = () =>
  useChange(
    (body: { currentPassword: string; newPassword: string }) =>
      done(service.PUT('/api/sessions/current/password', { body })),
    SESSIONS,
  );
