/** Shows a person that a mailbox works: a test mail, and the latest uses of its token. */
import Type from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { closed, dateTime } from '#api/http/schema-parts.ts';
import { LOGIN_PROTOCOLS, mailboxLogins } from '#core/mailboxes/mailbox-logins.ts';
import { getMailbox } from '#core/mailboxes/mailbox-queries.ts';
import { idPattern } from '#domain/ids.ts';
import { TEST_MAILS_PER_HOUR } from '#domain/mail/mail-limits.ts';
import { sendTestMail } from '#sending/submit/test-mail.ts';
import { MailboxParams } from './schema.ts';

const tag = 'Mailboxes';

const TestMail = closed({ messageId: Type.String({ pattern: idPattern('message') }) }, { title: 'TestMail' });

const MailboxLogins = closed(
  {
    data: Type.Array(
      closed(
        {
          protocol: Type.Enum(LOGIN_PROTOCOLS, { description: '`api`: REST, the CLI, the clients and MCP.' }),
          usedAt: dateTime('Written at most once a minute.'),
        },
        { title: 'MailboxLogin' },
      ),
      { description: 'Protocols that were used, the most recent first.' },
    ),
  },
  { title: 'MailboxLogins' },
);

export const mailboxTryRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/mailboxes/:id/test-mail',
    operationId: 'sendTestMail',
    tag,
    summary: 'Put a test mail into the mailbox',
    description: `From \`no-reply@\` and the domain of the instance, with the event \`email_received\`; at most ${TEST_MAILS_PER_HOUR} an hour for each mailbox.`,
    auth: { role: 'member' },
    params: MailboxParams,
    responses: {
      201: {
        description: 'The mail is in the INBOX.',
        schema: TestMail,
        example: { messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8' },
      },
    },
    errors: ['not_found', 'conflict', 'rate_limited'],
    handler: async ({ services, organization, principal, caller, params }) => ({
      status: 201,
      body: { messageId: await sendTestMail(services, organization.id, params.id, caller, principal.name) },
    }),
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/logins',
    operationId: 'listMailboxLogins',
    tag,
    summary: 'When the token of a mailbox was last used, by protocol',
    auth: { scope: 'mailbox:read' },
    params: MailboxParams,
    responses: {
      200: {
        description: 'The protocols that were used.',
        schema: MailboxLogins,
        example: { data: [{ protocol: 'imap', usedAt: '2026-11-21T09:15:00.000Z' }] },
      },
    },
    errors: ['not_found'],
    async handler({ services, organization, params }) {
      await getMailbox(services.db, organization.id, params.id);
      const logins = await mailboxLogins(services.db, organization.id, params.id);
      return {
        status: 200,
        body: { data: logins.map(({ protocol, usedAt }) => ({ protocol, usedAt: usedAt.toISOString() })) },
      };
    },
  }),
];
