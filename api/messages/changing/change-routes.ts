import { StoreRefused } from '@agent-mailbox/mail-store';
import type { Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { presentSummary } from '#api/messages/present.ts';
import {
  DeleteMessageQuery,
  MailboxMessagePath,
  MessageSummary,
  OwnMessagePath,
  summaryExample,
  UpdateMessage,
} from '#api/messages/schema.ts';
import type { SendContext } from '#api/messages/sending/send.ts';
import type { Services } from '#core/platform/process/services.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { changeMessage, deleteMessage } from '#mailstore/messages/change-messages.ts';
import { findMessage } from '#mailstore/messages/read-messages.ts';
import { signalDecided } from '#sending/submit/start-outbound.ts';
import { withdrawMessage } from '#sending/submit/withdraw-message.ts';

const tag = 'Messages';
const ofMailbox = { scope: 'mailbox:write', mailboxToken: true } as const;
const OF_TOKEN = ' The mailbox is that of the token.';

const UPDATE_SUMMARY = 'Change a message';
const UPDATE_DESCRIPTION =
  'Omitted fields do not change. A message in several folders is changed in all of them. Mail clients see the change at once.';
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
  'Moves it to the trash, from every folder. With `permanent`, or if it is in the trash already, it is removed permanently. A scheduled or held message is withdrawn: nobody gets it, and the draft it was made from is restored.';
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
  const { kind } = await withdrawMessage(services, mailboxId, messageId, caller.actor);
  if (kind === 'withdrawn') {
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
      const { id } = await requireMailbox(request.services.db, request.organization.id, request.params.id);
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
      const { id } = await requireMailbox(request.services.db, request.organization.id, request.params.id);
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
