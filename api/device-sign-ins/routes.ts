/** Signing in on a device without a browser of its own, such as a terminal (RFC 8628). */
import Type from 'typebox';
import { limitLinkTokens } from '#api/http/rate-limit.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime, nullable } from '#api/http/schema-parts.ts';
import { sessionWithTokenExample } from '#api/sessions/schema.ts';
import {
  beginDeviceSignIn,
  decideDeviceSignIn,
  findDeviceSignIn,
  takeDeviceSession,
} from '#core/accounts/device-sign-ins.ts';
import {
  DEVICE_NAME_MAX_CHARACTERS,
  DEVICE_POLL_SECONDS,
  DEVICE_SIGN_IN_LIFE_SECONDS,
  shownUserCode,
} from '#domain/access/sign-in-limits.ts';

const DECIDED_IN_BROWSER = 'A person decides about a device on the page of the service, never a program.';

const tag = 'Sessions';
const MINUTES = DEVICE_SIGN_IN_LIFE_SECONDS / 60;
const USER_CODE = 'BCDF-GHJK';
const DEVICE_CODE = 'amd_Zm9yIHRoZSBkb2N1bWVudHMgb25seSwgbm90IGEga2V51g0h7s';

const NewDeviceSignIn = closed(
  {
    name: Type.String({
      minLength: 1,
      maxLength: DEVICE_NAME_MAX_CHARACTERS,
      description: 'What the person sees, such as the program and the name of the machine.',
    }),
  },
  { title: 'NewDeviceSignIn' },
);

const DeviceSignIn = closed(
  {
    deviceCode: nullable(Type.String({ description: 'The secret of the device. Shown in this answer only.' })),
    userCode: nullable(Type.String({ description: 'What the person enters. Shown in this answer only.' })),
    verificationUrl: Type.String({ description: 'The page on which it is entered.' }),
    expiresAt: dateTime(),
    intervalSeconds: Type.Integer({ description: 'Seconds to wait between two requests for the session.' }),
  },
  { title: 'DeviceSignIn' },
);

const DeviceCode = closed({ deviceCode: Type.String({ minLength: 1, maxLength: 128 }) }, { title: 'DeviceCode' });

const DeviceSession = closed(
  {
    status: Type.Enum(['pending', 'approved', 'denied', 'expired'], {
      description:
        '`pending`: nobody has decided yet. `expired`: the code has expired or is unknown, or the session was already collected.',
    }),
    token: nullable(Type.String({ description: 'The session, `ams_…`, once; null if it is not approved.' })),
  },
  { title: 'DeviceSession' },
);

const userCode = Type.String({ minLength: 1, maxLength: 32, description: 'As typed: case and hyphens do not matter.' });
const UserCode = closed({ userCode }, { title: 'UserCode' });
const DeviceDecision = closed({ userCode, approve: Type.Boolean() }, { title: 'DeviceDecision' });

const DeviceLook = closed(
  {
    name: Type.String({ description: 'What the device calls itself: anybody could call it so.' }),
    ipAddress: nullable(Type.String()),
    createdAt: dateTime(),
    expiresAt: dateTime(),
  },
  { title: 'DeviceLook' },
);

export const deviceSignInRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/device-sign-ins',
    operationId: 'beginDeviceSignIn',
    tag,
    summary: 'Begin to sign in on a device',
    description: `For programs without a browser, as in RFC 8628. Show the person \`userCode\` and \`verificationUrl\`, then ask for the session. The codes are valid for ${MINUTES} minutes.`,
    auth: 'public',
    body: NewDeviceSignIn,
    bodyExample: { name: 'agent-mailbox on laptop' },
    secretFields: ['deviceCode', 'userCode'],
    responses: {
      201: {
        description: 'The codes.',
        schema: DeviceSignIn,
        example: {
          deviceCode: DEVICE_CODE,
          userCode: USER_CODE,
          verificationUrl: 'https://mail.example.com/device',
          expiresAt: '2026-11-21T09:25:00.000Z',
          intervalSeconds: DEVICE_POLL_SECONDS,
        },
      },
    },
    errors: ['rate_limited'],
    async handler({ services, body, ipAddress, publicUrl }) {
      const begun = await beginDeviceSignIn(services, body.name, ipAddress);
      return {
        status: 201,
        body: {
          deviceCode: begun.deviceCode,
          userCode: shownUserCode(begun.userCode),
          verificationUrl: `${publicUrl}/device`,
          expiresAt: begun.expiresAt.toISOString(),
          intervalSeconds: DEVICE_POLL_SECONDS,
        },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/device-sign-ins/session',
    operationId: 'takeDeviceSession',
    tag,
    summary: 'Take the session of a device',
    description: `The session of the person who approved, once. Ask every ${DEVICE_POLL_SECONDS} seconds; sooner is refused with 429.`,
    auth: 'public',
    body: DeviceCode,
    bodyExample: { deviceCode: DEVICE_CODE },
    secretFields: ['token'],
    responses: {
      200: {
        description: 'Whether it was decided, and the session.',
        schema: DeviceSession,
        example: { status: 'approved' as const, token: sessionWithTokenExample.token },
      },
    },
    errors: ['rate_limited'],
    async handler({ services, body, ipAddress, requestId }) {
      await limitLinkTokens(services, ipAddress);
      const result = await takeDeviceSession(services, body.deviceCode, { ipAddress, requestId });
      const token = result.status === 'approved' ? result.session.token : null;
      return { status: 200, body: { status: result.status, token } };
    },
  }),
  route({
    method: 'POST',
    path: '/api/device-sign-ins/look',
    operationId: 'lookAtDeviceSignIn',
    withoutCall: { client: DECIDED_IN_BROWSER },
    tag,
    summary: 'See which device asks to sign in',
    auth: 'session',
    body: UserCode,
    bodyExample: { userCode: USER_CODE },
    responses: {
      200: {
        description: 'What is known about the device.',
        schema: DeviceLook,
        example: {
          name: 'agent-mailbox on laptop',
          ipAddress: '203.0.113.7',
          createdAt: '2026-11-21T09:15:00.000Z',
          expiresAt: '2026-11-21T09:25:00.000Z',
        },
      },
    },
    errors: ['not_found', 'rate_limited'],
    async handler({ services, principal, body }) {
      const { name, ipAddress, createdAt, expiresAt } = await findDeviceSignIn(services, principal.id, body.userCode);
      return {
        status: 200,
        body: { name, ipAddress, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/api/device-sign-ins/decide',
    operationId: 'decideDeviceSignIn',
    withoutCall: { client: DECIDED_IN_BROWSER },
    tag,
    summary: 'Sign a device in, or refuse it',
    description:
      'For a signed-in person. An approved device gets a session of this person: with all rights, listed and ended like any other session.',
    auth: 'session',
    body: DeviceDecision,
    bodyExample: { userCode: USER_CODE, approve: true },
    responses: { 204: { description: 'Decided.' } },
    errors: ['not_found', 'rate_limited'],
    async handler({ services, principal, body }) {
      await decideDeviceSignIn(services, principal, body.userCode, body.approve);
      return { status: 204 };
    },
  }),
];
