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

/** What proves a change: a code of the app or a recovery code; null: a passkey, which the browser asks for. */
export type Proof = string | null;

const proofOf = async (proof: Proof) =>
  proof === null ? { passkey: await (await import('../../api/passkeys.ts')).passkeyOfConfirmation() } : { code: proof };

export const useRemoveTotp = () =>
  useChangeOfFactor(async (proof: Proof) =>
    done(service.POST('/api/sessions/current/second-factor/totp/remove', { body: await proofOf(proof) })),
  );

export const useRenewRecoveryCodes = () =>
  useChangeOfFactor(async (proof: Proof) =>
    bodyOf(service.POST('/api/sessions/current/second-factor/recovery-codes', { body: await proofOf(proof) })),
  );

export type Passkey = Schemas['Passkey'];

const PASSKEYS = ['second-factor', 'passkeys'];

export const passkeysQuery = queryOptions({
  queryKey: PASSKEYS,
  queryFn: () => bodyOf(service.GET('/api/sessions/current/passkeys')),
});

/** Makes a passkey in this browser and adds it. */
export const useAddPasskey = () =>
  useChangeOfFactor(async ({ name, password }: { name: string; password: string }) => {
    const { makePasskey } = await import('../../api/passkeys.ts');
    const options = await bodyOf(service.POST('/api/sessions/current/passkeys/begin', { body: { password } }));
    const passkey = await makePasskey(options);
    return bodyOf(service.POST('/api/sessions/current/passkeys', { body: { name, passkey } }));
  });

export const useRemovePasskey = (id: string) =>
  useChangeOfFactor(async (proof: Proof) =>
    done(
      service.POST('/api/sessions/current/passkeys/{id}/remove', {
        params: { path: { id } },
        body: await proofOf(proof),
      }),
    ),
  );

const LINKED = ['linked-accounts'];

/** Accounts of an OpenID provider that sign in as this person. */
export const linkedQuery = queryOptions({
  queryKey: LINKED,
  queryFn: async () => (await bodyOf(service.GET('/api/sessions/current/oidc'))).data,
});

export const useUnlink = () =>
  useChange(
    (id: string) => done(service.DELETE('/api/sessions/current/oidc/{id}', { params: { path: { id } } })),
    LINKED,
  );
