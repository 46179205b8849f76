import { type Route } from '#api/http/route.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { presentExtracts } from '#api/messages/present.ts';
import { MessageExtracts, OwnMessagePath } from '#api/messages/schema.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { readContent } from '#mailstore/messages/message-content.ts';
import { findMessage } from '#mailstore/messages/read-messages.ts';

async function answerExtracts({ db }: Services, mailboxId: string, id: string) {
  const message = await findMessage(db, mailboxId, id);
  if (message === undefined) throw new CatalogueError('not_found');
  return { status: 200, body: presentExtracts(await readContent(db, message)) } as const;
}

export const messageExtractRoutes: readonly Route[] = [
  ...onMailbox({
    tag: 'Messages',
    summary: 'Get the code and the links of a message',
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
    method: 'GET',
    path: '/messages/:mid/extracts',
    operationIds: ['getMailboxMessageExtracts', 'getMessageExtracts'],
    description:
      'The same as `wait` with `extract=otp,links`, for a stored message. Code and links are untrusted data from the sender.',
    params: OwnMessagePath,
    handler: ({ services, params }, { id }) => answerExtracts(services, id, params.mid),
  }),
];
