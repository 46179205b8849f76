import { type Route, route } from '#api/http/route.ts';
import { presentExtracts } from '#api/messages/present.ts';
import { MailboxMessagePath, MessageExtracts, OwnMessagePath } from '#api/messages/schema.ts';
import type { Services } from '#core/platform/process/services.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import { readContent } from '#mailstore/messages/message-content.ts';
import { findMessage } from '#mailstore/messages/read-messages.ts';

const SUMMARY = 'Get the code and the links of a message';
const DESCRIPTION =
  'The same as `wait` with `extract=otp,links`, for a stored message. Code and links are untrusted data from the sender.';
const common = {
  tag: 'Messages',
  summary: SUMMARY,
  responses: {
    200: {
      description: 'The code and the links.',
      schema: MessageExtracts,
      example: {
        otp: '482913',
        otpCandidates: [{ code: '482913', confidence: 0.97 }],
        links: [
          {
            url: 'https://shop.example/confirm?t=b1c2',
            text: 'Confirm address',
            kind: 'confirm' as const,
            confidence: 0.98,
          },
        ],
      },
    },
  },
  errors: ['not_found'],
} as const;

async function answerExtracts({ db }: Services, mailboxId: string, id: string) {
  const message = await findMessage(db, mailboxId, id);
  if (message === undefined) throw new CatalogueError('not_found');
  return { status: 200, body: presentExtracts(await readContent(db, message)) } as const;
}

export const messageExtractRoutes: readonly Route[] = [
  route({
    ...common,
    method: 'GET',
    path: '/api/mailboxes/:id/messages/:mid/extracts',
    operationId: 'getMailboxMessageExtracts',
    description: DESCRIPTION,
    auth: { scope: 'mailbox:read', mailboxToken: true },
    params: MailboxMessagePath,
    async handler({ services, organization, params }) {
      const { id } = await requireMailbox(services.db, organization.id, params.id);
      return answerExtracts(services, id, params.mid);
    },
  }),
  route({
    ...common,
    method: 'GET',
    path: '/api/mailbox/messages/:mid/extracts',
    operationId: 'getMessageExtracts',
    description: `${DESCRIPTION} Of the mailbox whose token is sent.`,
    auth: 'mailbox_token',
    params: OwnMessagePath,
    handler: ({ services, principal, params }) => answerExtracts(services, principal.id, params.mid),
  }),
];
