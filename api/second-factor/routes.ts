/** The second factor of the signed-in person. */
import Type from 'typebox';
import { FORM_IN_BROWSER, type Route, route } from '#api/http/route.ts';
import { closed, dateTime, nullable, timeOf } from '#api/http/schema-parts.ts';
import { CodeOfPerson, OwnPassword, ProofOfPerson, proofOf } from '#api/sessions/schema.ts';
import {
  beginTotp,
  confirmTotp,
  removeTotp,
  renewRecoveryCodes,
  secondFactorOf,
} from '#core/accounts/second-factor/second-factor.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import { RECOVERY_CODES, TOTP_DIGITS, TOTP_PERIOD_SECONDS } from '#domain/access/second-factor.ts';

const tag = 'Sessions';
const BASE = '/api/sessions/current/second-factor';
const withoutCall = { client: FORM_IN_BROWSER };

const SecondFactor = closed(
  {
    totpSince: nullable(dateTime('Since when a code of an authenticator app is asked for; null: it is not.')),
    recoveryCodesLeft: Type.Integer({ description: 'Recovery codes that were not used.' }),
  },
  { title: 'SecondFactor' },
);

const NewTotp = closed(
  {
    secret: nullable(Type.String({ description: 'In base32, to be typed into the app. Shown in this answer only.' })),
    uri: nullable(
      Type.String({ description: 'The same as `otpauth:` address, for a QR code. Shown in this answer only.' }),
    ),
  },
  { title: 'NewAuthenticatorApp' },
);

const RecoveryCodes = closed(
  {
    recoveryCodes: nullable(
      Type.Array(Type.String(), { description: 'Shown in this answer only; null: the person has some already.' }),
    ),
  },
  { title: 'RecoveryCodes' },
);

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const codesExample = { recoveryCodes: ['k3m9w-x7q2d', 'p8t4r-b6n5c'] };
const codesResponse = {
  200: { description: 'The recovery codes.', schema: RecoveryCodes, example: codesExample },
} as const;
const bodyExample = { code: '123456' };

export const secondFactorRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: BASE,
    operationId: 'getSecondFactor',
    withoutCall,
    tag,
    summary: 'Get your second factor',
    auth: 'session',
    responses: {
      200: {
        description: 'What is set up.',
        schema: SecondFactor,
        example: { totpSince: '2026-11-21T09:15:00.000Z', recoveryCodesLeft: 9 },
      },
    },
    async handler({ services, principal }) {
      const { totpSince, recoveryCodesLeft } = await secondFactorOf(services.db, principal.id);
      return { status: 200, body: { totpSince: timeOf(totpSince), recoveryCodesLeft } };
    },
  }),
  route({
    method: 'POST',
    path: `${BASE}/totp`,
    operationId: 'beginTotp',
    withoutCall,
    tag,
    summary: 'Begin to add an authenticator app',
    description: `Needs the password. The app shows ${TOTP_DIGITS} digits by RFC 6238 (SHA-1, ${TOTP_PERIOD_SECONDS} seconds); the factor is on when a code of it is sent to \`${BASE}/totp/confirm\`.`,
    auth: 'session',
    body: OwnPassword,
    bodyExample: { password: 'correct horse battery staple' },
    secretFields: ['secret', 'uri'],
    responses: {
      201: {
        description: 'The secret.',
        schema: NewTotp,
        example: {
          secret: SECRET,
          uri: `otpauth://totp/Agent%20Mailbox:ada%40example.com?issuer=Agent%20Mailbox&secret=${SECRET}&algorithm=SHA1&digits=6&period=30`,
        },
      },
    },
    errors: ['unauthenticated', 'rate_limited', 'conflict'],
    handler: async ({ services, principal, body, ipAddress }) => ({
      status: 201,
      body: await beginTotp(services, principal, body.password, ipAddress),
    }),
  }),
  route({
    method: 'POST',
    path: `${BASE}/totp/confirm`,
    operationId: 'confirmTotp',
    withoutCall,
    tag,
    summary: 'Add the authenticator app by a code of it',
    description: `If it is the first factor, the answer has ${RECOVERY_CODES} recovery codes, and all other sessions of the person end. The person gets a mail about it.`,
    auth: 'session',
    body: CodeOfPerson,
    bodyExample,
    secretFields: ['recoveryCodes'],
    responses: codesResponse,
    errors: ['unauthenticated', 'rate_limited'],
    async handler({ services, temporal, principal, caller, ipAddress, body }) {
      const done = await confirmTotp(services, principal, body.code, { ...caller, ipAddress });
      await sendNotices(services, temporal, done.notices);
      return { status: 200, body: { recoveryCodes: done.recoveryCodes } };
    },
  }),
  route({
    method: 'POST',
    path: `${BASE}/totp/remove`,
    operationId: 'removeTotp',
    withoutCall,
    tag,
    summary: 'Remove the authenticator app',
    description:
      'By a fresh code, of the app or a recovery code, or by a passkey (POST /api/sessions/current/passkeys/confirmation). Without passkeys the recovery codes end too. The person gets a mail about it.',
    auth: 'session',
    body: ProofOfPerson,
    bodyExample,
    responses: { 204: { description: 'Removed.' } },
    errors: ['unauthenticated', 'rate_limited'],
    async handler({ services, temporal, principal, caller, ipAddress, body, publicUrl }) {
      const proof = proofOf(body, publicUrl);
      await sendNotices(services, temporal, await removeTotp(services, principal, proof, { ...caller, ipAddress }));
      return { status: 204 };
    },
  }),
  route({
    method: 'POST',
    path: `${BASE}/recovery-codes`,
    operationId: 'renewRecoveryCodes',
    withoutCall,
    tag,
    summary: 'Make new recovery codes',
    description:
      'By a fresh code, of the app or a recovery code, or by a passkey (POST /api/sessions/current/passkeys/confirmation). The former recovery codes end.',
    auth: 'session',
    body: ProofOfPerson,
    bodyExample,
    secretFields: ['recoveryCodes'],
    responses: codesResponse,
    errors: ['unauthenticated', 'rate_limited'],
    async handler({ services, temporal, principal, caller, ipAddress, body, publicUrl }) {
      const proof = proofOf(body, publicUrl);
      const done = await renewRecoveryCodes(services, principal, proof, { ...caller, ipAddress });
      await sendNotices(services, temporal, done.notices);
      return { status: 200, body: { recoveryCodes: done.recoveryCodes } };
    },
  }),
];
