import { StoreRefused } from '@agent-mailbox/mail-store';
import type { Static } from 'typebox';
import { type Route } from '#api/http/route.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { presentSummary } from '#api/messages/present.ts';
import {
  DeleteMessageQuery,
  MessageSummary,
  OwnMessagePath,
  summaryExample,
  UpdateMessage,
} from '#api/messages/schema.ts';
import type { SendContext } from '#api/messages/sending/send.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { changeMessages } from '#mailstore/messages/change-messages.ts';
import { findMessage } from '#mailstore/messages/read-messages.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import { withdrawMessage } from '#sending/submit/withdraw-message.ts';

const tag = 'Messages';

const bodyExample = { seen: true, flagged: false, labels: ['order'], folder: 'Archive' };
const updateResponses = {
  200: {
    description: 'The message as it is now.',
    schema: MessageSummary,
    example: { ...summaryExample, seen: true, labels: ['order'], folders: ['Archive'] },
  },
} as const;

const deleteResponses = { 204: { description: 'Moved to the trash, removed, or withdrawn.' } } as const;

interface Context {
  readonly services: Services;
  readonly notifier: MailNotifier;
}

async function answerUpdate(
  { services: { db }, notifier }: Context,
  mailboxId: string,
  messageId: string,
  { seen, flagged, labels, folder }: Static<typeof UpdateMessage>,
) {
  const change = {
    ...(seen === undefined ? {} : { seen }),
    ...(flagged === undefined ? {} : { flagged }),
    ...(labels === undefined ? {} : { labels }),
    ...(folder === undefined ? {} : { folder }),
  };
  const known = await changeMessages(db, notifier, mailboxId, [messageId], change).catch(refusedField);
  const message = known.length > 0 ? await findMessage(db, mailboxId, messageId) : undefined;
  if (message === undefined) throw new CatalogueError('not_found');
  return { status: 200, body: presentSummary(message) } as const;
}

function refusedField(error: unknown): never {
  if (!(error instanceof StoreRefused)) throw error;
  const path = error.refusal === 'no-folder' ? '/folder' : '/labels';
  throw new CatalogueError('invalid_request', undefined, { details: [{ path, message: error.message }] });
}

async function answerDelete(
  { services, notifier, temporal, caller }: Context & Pick<SendContext, 'temporal' | 'caller'>,
  mailboxId: string,
  messageId: string,
  { permanent = false }: Static<typeof DeleteMessageQuery>,
) {
  const { kind } = await withdrawMessage(services, mailboxId, messageId, caller.actor);
  if (kind === 'withdrawn') {
    await signalDecided(services, temporal, [messageId]);
    return { status: 204 } as const;
  }
  const change = { delete: permanent ? 'permanent' : 'trash' } as const;
  const known = await changeMessages(services.db, notifier, mailboxId, [messageId], change);
  if (known.length === 0) throw new CatalogueError('not_found');
  return { status: 204 } as const;
}

export const messageChangeRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'PATCH',
    path: '/messages/:mid',
    operationIds: ['updateMailboxMessage', 'updateMessage'],
    tag,
    summary: 'Change a message',
    description:
      'Omitted fields do not change. A message in several folders is changed in all of them. Mail clients see the change at once.',
    params: OwnMessagePath,
    body: UpdateMessage,
    bodyExample,
    responses: updateResponses,
    errors: ['not_found'],
    handler: (request, { id }) => answerUpdate(request, id, request.params.mid, request.body),
  }),
  ...onMailbox({
    method: 'DELETE',
    path: '/messages/:mid',
    operationIds: ['deleteMailboxMessage', 'deleteMessage'],
    tag,
    summary: 'Delete a message',
    description:
      'Moves it to the trash, from every folder. With `permanent`, or if it is in the trash already, it is removed permanently. A scheduled or held message is withdrawn: nobody gets it, and the draft it was made from is restored.',
    params: OwnMessagePath,
    query: DeleteMessageQuery,
    responses: deleteResponses,
    errors: ['not_found'],
    handler: (request, { id }) => answerDelete(request, id, request.params.mid, request.query),
  }),
];
