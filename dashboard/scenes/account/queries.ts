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

export type SecondFactor = Schemas['SecondFactor'];

const SECOND_FACTOR = ['second-factor'];

export const secondFactorQuery = queryOptions({
  queryKey: SECOND_FACTOR,
  queryFn: () => bodyOf(service.GET('/api/sessions/current/second-factor')),
});

/** The session says whether it has a second factor. */
const useChangeOfFactor = <Input, Result>(change: (input: Input) => Promise<Result>) =>
  useChange(change, SECOND_FACTOR, SESSIONS, ['session']);

export const useBeginTotp = () =>
  useChangeOfFactor((password: string) =>
    bodyOf(service.POST('/api/sessions/current/second-factor/totp', { body: { password } })),
  );

export const useConfirmTotp = () =>
  useChangeOfFactor((code: string) =>
    bodyOf(service.POST('/api/sessions/current/second-factor/totp/confirm', { body: { code } })),
  );

export const useRemoveTotp = () =>
  useChangeOfFactor((code: string) =>
    done(service.POST('/api/sessions/current/second-factor/totp/remove', { body: { code } })),
  );

export const useRenewRecoveryCodes = () =>
  useChangeOfFactor((code: string) =>
    bodyOf(service.POST('/api/sessions/current/second-factor/recovery-codes', { body: { code } })),
  );
