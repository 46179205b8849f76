import type { Static } from 'typebox';
import { getMailbox } from '../../core/mailbox-queries.ts';
import type { Services } from '../../core/services.ts';
import { signalDecided } from '../../core/start-outbound.ts';
import { CatalogueError } from '../../domain/errors.ts';
import { withdrawMessage } from '../../mail/outbound/withdraw-message.ts';
import { changeMessage, deleteMessage } from '../../mail/store/change-message.ts';
import { StoreRefused } from '../../mail/store/interface.ts';
import type { MailNotifier } from '../../mail/store/notifier.ts';
import { findMessage } from '../../mail/store/read-messages.ts';
import { type Route, route } from '../route.ts';
import { summaryExample } from './examples.ts';
import { presentSummary } from './present.ts';
import { DeleteMessageQuery, MailboxMessagePath, MessageSummary, OwnMessagePath, UpdateMessage } from './schema.ts';
import type { SendContext } from './send.ts';

const tag = 'Messages';
const ofMailbox = { scope: 'mailbox:write', mailboxToken: true } as const;
const OF_TOKEN = ' Of the mailbox whose token is sent.';

const UPDATE_SUMMARY = 'Change a message';
const UPDATE_DESCRIPTION =
  'What is left out stays. A message that lies in several folders is changed in all of them. Mail clients see the change at once.';
const bodyExample = { seen: true, flagged: false, labels: ['order'], folder: 'Archive' };
const updateResponses = {
  200: {
    description: 'The message as it is now.',
    schema: MessageSummary,
    example: { ...summaryExample, seen: true, labels: ['order'], folders: ['Archive'] },
  },
} as const;

const DELETE_SUMMARY = 'Delete a message';
const DELETE_DESCRIPTION =
  'Moves it to the trash, from every folder it lies in. With `permanent`, or when it lies in the trash already, it is removed for good. A message that waits for its time or for consent is taken back: nobody gets it.';
const deleteResponses = { 204: { description: 'It is in the trash, gone, or taken back.' } } as const;

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
  const known = await changeMessage(db, notifier, mailboxId, messageId, change).catch(refusedField);
  const message = known ? await findMessage(db, mailboxId, messageId) : undefined;
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
  if (await withdrawMessage(services, mailboxId, messageId, caller.actor)) {
    await signalDecided(services, temporal, [messageId]);
    return { status: 204 } as const;
  }
  if (!(await deleteMessage(services.db, notifier, mailboxId, messageId, permanent)))
    throw new CatalogueError('not_found');
  return { status: 204 } as const;
}

export const messageChangeRoutes: readonly Route[] = [
  route({
    method: 'PATCH',
    path: '/api/mailboxes/:id/messages/:mid',
    operationId: 'updateMailboxMessage',
    tag,
    summary: UPDATE_SUMMARY,
    description: UPDATE_DESCRIPTION,
    auth: ofMailbox,
    params: MailboxMessagePath,
    body: UpdateMessage,
    bodyExample,
    responses: updateResponses,
    errors: ['not_found'],
    async handler(request) {
      const { id } = await getMailbox(request.services.db, request.organization.id, request.params.id);
      return answerUpdate(request, id, request.params.mid, request.body);
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/mailboxes/:id/messages/:mid',
    operationId: 'deleteMailboxMessage',
    tag,
    summary: DELETE_SUMMARY,
    description: DELETE_DESCRIPTION,
    auth: ofMailbox,
    params: MailboxMessagePath,
    query: DeleteMessageQuery,
    responses: deleteResponses,
    errors: ['not_found'],
    async handler(request) {
      const { id } = await getMailbox(request.services.db, request.organization.id, request.params.id);
      return answerDelete(request, id, request.params.mid, request.query);
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/mailbox/messages/:mid',
    operationId: 'updateMessage',
    tag,
    summary: UPDATE_SUMMARY,
    description: UPDATE_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    params: OwnMessagePath,
    body: UpdateMessage,
    bodyExample,
    responses: updateResponses,
    errors: ['not_found'],
    handler: (request) => answerUpdate(request, request.principal.id, request.params.mid, request.body),
  }),
  route({
    method: 'DELETE',
    path: '/api/mailbox/messages/:mid',
    operationId: 'deleteMessage',
    tag,
    summary: DELETE_SUMMARY,
    description: DELETE_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    params: OwnMessagePath,
    query: DeleteMessageQuery,
    responses: deleteResponses,
    errors: ['not_found'],
    handler: (request) => answerDelete(request, request.principal.id, request.params.mid, request.query),
  }),
];
