import Type from 'typebox';
import { limitLinkTokens } from '#api/http/rate-limit.ts';
import { FORM_IN_BROWSER, type Route, route } from '#api/http/route.ts';
import { closed } from '#api/http/schema-parts.ts';
import { passwordResetExample } from '#api/members/schema.ts';
import { Email } from '#api/sessions/schema.ts';
import { acceptPasswordReset, requestPasswordReset } from '#core/accounts/passwords.ts';
import { sendNotices } from '#core/organizations/member-notices.ts';
import {
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  PASSWORD_RESET_LIFE_MINUTES,
} from '#domain/access/credential-format.ts';
import { ANY_TEXT } from '#domain/mail/text-forms.ts';

const tag = 'Sessions';

const PasswordResetRequest = closed({ email: Email }, { title: 'PasswordResetRequest' });

const AcceptPasswordReset = closed(
  {
    token: Type.String({ minLength: 1, maxLength: 128, description: 'Of the link.' }),
    password: Type.String({ minLength: PASSWORD_MIN_LENGTH, maxLength: PASSWORD_MAX_LENGTH, pattern: ANY_TEXT }),
  },
  { title: 'AcceptPasswordReset' },
);

export const passwordResetRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/password-resets',
    operationId: 'requestPasswordReset',
    withoutCall: { client: FORM_IN_BROWSER },
    tag,
    summary: 'Ask for a link to choose a new password',
    description: `The answer is the same whether the address has an account or not. The link is sent to the address, works once and for ${PASSWORD_RESET_LIFE_MINUTES} minutes. An address that this instance hosts gets a mail without a link, because agents may read it: another owner creates the link (POST /api/members/:id/password-reset), or the operator does.`,
    auth: 'public',
    body: PasswordResetRequest,
    bodyExample: { email: 'ada@example.com' },
    responses: { 202: { description: 'If the address has an account, a mail is being sent.' } },
    errors: ['rate_limited'],
    async handler({ services, temporal, body, ipAddress }) {
      await sendNotices(services, temporal, await requestPasswordReset(services, body.email, ipAddress));
      return { status: 202 };
    },
  }),
  route({
    method: 'POST',
    path: '/api/password-resets/accept',
    operationId: 'acceptPasswordReset',
    withoutCall: { client: FORM_IN_BROWSER },
    tag,
    summary: 'Choose a new password with the link',
    description:
      'Ends all sessions of the person and the links of notices. The person gets a mail about it, and signs in.',
    auth: 'public',
    body: AcceptPasswordReset,
    bodyExample: { token: passwordResetExample.token, password: 'another long pass phrase' },
    responses: { 204: { description: 'The password is changed.' } },
    errors: ['not_found', 'rate_limited'],
    async handler({ services, temporal, body, ipAddress, requestId }) {
      await limitLinkTokens(services, ipAddress);
      await sendNotices(services, temporal, await acceptPasswordReset(services, body, { ipAddress, requestId }));
      return { status: 204 };
    },
  }),
];
