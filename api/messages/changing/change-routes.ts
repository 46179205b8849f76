/** Changing and deleting a message, or many of a mailbox in one request. */
import { StoreRefused } from '@agent-mailbox/mail-store';
import Type, { type Static } from 'typebox';
import type { Route } from '#api/http/route.ts';
import { closed, listBody, MessageId } from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { presentSummary } from '#api/messages/present.ts';
import { listFilterOf, requireFolder } from '#api/messages/reading/listed-folder.ts';
import {
  DeleteMessageQuery,
  LABEL_PATTERN,
  MessageSummary,
  MessagesQuery,
  OwnMessagePath,
  summaryExample,
  UpdateMessage,
} from '#api/messages/schema.ts';
import type { SendContext } from '#api/messages/sending/send.ts';
import type { Services } from '#core/platform/process/services.ts';
import { CatalogueError } from '#domain/errors.ts';
import { BULK_MESSAGES_MAX, FOLDER_NAME_MAX_BYTES, KEYWORDS_PER_MESSAGE_MAX } from '#domain/mail/mail-limits.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import { changeMessages } from '#mailstore/messages/change-messages.ts';
import { findMessage, listMessages } from '#mailstore/messages/read-messages.ts';
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

const { limit: _, cursor: __, ...filters } = MessagesQuery.properties;
const Labels = Type.Array(Type.String({ pattern: LABEL_PATTERN }), { minItems: 1, maxItems: KEYWORDS_PER_MESSAGE_MAX });

const MessagesChange = closed(
  {
    messageIds: Type.Optional(
      Type.Array(MessageId, {
        minItems: 1,
        maxItems: BULK_MESSAGES_MAX,
        uniqueItems: true,
        description: 'Ids of the messages. Give either these or `query`.',
      }),
    ),
    query: Type.Optional(
      closed(filters, {
        title: 'MessageFilter',
        description: `Selects the newest ${BULK_MESSAGES_MAX} messages that match these filters, which are those of the list. Give either these or \`messageIds\`.`,
      }),
    ),
    seen: Type.Optional(Type.Boolean()),
    flagged: Type.Optional(Type.Boolean()),
    addLabels: Type.Optional({ ...Labels, description: 'Labels to add; other labels remain.' }),
    removeLabels: Type.Optional({ ...Labels, description: 'Labels to remove.' }),
    folder: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: FOLDER_NAME_MAX_BYTES,
        description: 'Name of the folder to move them to, case-insensitive. They are removed from all other folders.',
      }),
    ),
    delete: Type.Optional(
      Type.Enum(['trash', 'permanent'], {
        description:
          '`trash`: moves them to the trash; those that are there already are removed. `permanent`: removes them. A deletion cannot be combined with another change.',
      }),
    ),
  },
  { title: 'BulkMessageChange' },
);
const MessagesChanged = closed(
  {
    messageIds: Type.Array(MessageId, { description: 'Messages that have the requested state now.' }),
    missing: Type.Array(MessageId, { description: 'Ids that the mailbox does not have, or that are in no folder.' }),
    more: Type.Boolean({ description: 'Whether more messages match the `query`; if so, repeat the request.' }),
  },
  { title: 'BulkMessageResult' },
);

const bulkExample = { query: { folder: 'INBOX', from: 'news@example.com' }, seen: true, folder: 'Archive' };
const responses = {
  200: {
    description: 'What was changed.',
    schema: MessagesChanged,
    example: { messageIds: ['msg_01k8e8f2c0e4x9w2v7a3r5t6y8'], missing: [], more: false },
  },
} as const;

const wrong = (path: string, message: string): CatalogueError =>
  new CatalogueError('invalid_request', undefined, { details: [{ path, message }] });

async function answerChange(
  { services: { db }, notifier }: { readonly services: Services; readonly notifier: MailNotifier },
  mailboxId: string,
  { messageIds, query, ...change }: Static<typeof MessagesChange>,
) {
  if ((messageIds === undefined) === (query === undefined))
    throw wrong('/messageIds', 'give either messageIds or query');
  const wanted = Object.keys(change);
  if (wanted.length === 0) throw wrong('/', 'has no change');
  if (change.delete !== undefined && wanted.length > 1)
    throw wrong('/delete', 'cannot be combined with another change');
  let ids = messageIds ?? [];
  let more = false;
  if (query !== undefined) {
    await requireFolder(db, mailboxId, query.folder);
    const page = { limit: BULK_MESSAGES_MAX, after: null };
    const { data, nextCursor } = listBody(
      await listMessages(db, mailboxId, listFilterOf(query), page),
      page,
      ({ id }) => id,
    );
    [ids, more] = [data, nextCursor !== null];
  }
  const known = new Set(
    ids.length === 0 ? [] : await changeMessages(db, notifier, mailboxId, ids, change).catch(refused),
  );
  const body = { messageIds: ids.filter((id) => known.has(id)), missing: ids.filter((id) => !known.has(id)), more };
  return { status: 200, body } as const;
}

function refused(error: unknown): never {
  if (!(error instanceof StoreRefused)) throw error;
  throw wrong(error.refusal === 'no-folder' ? '/folder' : '/addLabels', error.message);
}

export const messageBulkRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'POST',
    path: '/messages/change',
    operationIds: ['changeMailboxMessages', 'changeMessages'],
    tag,
    summary: 'Change or delete many messages',
    description: `Changes at most ${BULK_MESSAGES_MAX} messages in one transaction, all or none. Name them by their ids, or by the filters of the list. Events and mail clients report the change of each message. To withdraw held and scheduled messages, use the DELETE of each one.`,
    tokenNeeds: 'change',
    body: MessagesChange,
    bodyExample: bulkExample,
    responses,
    withoutCall: {
      mcp: 'A model that was misled by a mail must not change or delete hundreds of messages in one step.',
    },
    handler: (request, { id }) => answerChange(request, id, request.body),
  }),
];
