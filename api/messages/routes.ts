import type { Static } from 'typebox';
import { type Route } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { READABLE_CHARACTERS, readableMessage } from '#client/model-text.ts';
import { CatalogueError } from '#domain/errors.ts';
import { readContent, readHtml } from '#mailstore/messages/message-content.ts';
import { findMessage, listMessages, readHeader, type StoredMessageContent } from '#mailstore/messages/read-messages.ts';
import { inFormat } from './model-format.ts';
import { noteReading, type ReadingRequest } from './note-reading.ts';
import { listForModel, presentExtracts, presentMessage, presentSummary } from './present.ts';
import { attachmentDownload, rawDownload } from './reading/download.ts';
import { listFilterOf, requireFolder } from './reading/listed-folder.ts';
import {
  Message,
  MessageList,
  MessageQuery,
  MessagesQuery,
  messageExample,
  OwnAttachmentPath,
  OwnMessagePath,
  summaryExample,
} from './schema.ts';

const tag = 'Messages';

const listResponses = {
  200: {
    description: 'A page of messages.',
    schema: MessageList,
    example: { data: [summaryExample], nextCursor: null },
  },
} as const;
const messageResponses = { 200: { description: 'The message.', schema: Message, example: messageExample } } as const;
const rawResponses = {
  200: { description: 'The message as it is stored, byte for byte.', contentType: 'message/rfc822' },
} as const;
const attachmentResponses = {
  200: { description: 'The decoded attachment, with its own media type.', contentType: 'application/octet-stream' },
} as const;

async function answerList(request: ReadingRequest, mailboxId: string, query: Static<typeof MessagesQuery>) {
  const { services } = request;
  const page = pageOf('message', query);
  await requireFolder(services.db, mailboxId, query.folder);
  const rows = await listMessages(services.db, mailboxId, listFilterOf(query), page);
  await noteReading(request, rows.slice(0, page.limit));
  const body = listBody(rows, page, presentSummary);
  return { status: 200, body: inFormat(body, query.format, listForModel) } as const;
}

/** A message that the request reads. */
async function requireMessage(request: ReadingRequest, mailboxId: string, id: string): Promise<StoredMessageContent> {
  const message = await findMessage(request.services.db, mailboxId, id);
  if (message === undefined) throw new CatalogueError('not_found');
  await noteReading(request, [message]);
  return message;
}

async function answerMessage(
  request: ReadingRequest,
  mailboxId: string,
  id: string,
  query: Static<typeof MessageQuery>,
) {
  const { services } = request;
  const message = await requireMessage(request, mailboxId, id);
  const format = query.format ?? 'full';
  const fields = await readHeader(services.db, message);
  const content = format === 'metadata' ? null : await readContent(services.db, message);
  const source = format === 'full' ? await readHtml(services.db, message) : null;
  const presented = presentMessage(message, fields, content, source);
  const body = inFormat(presented, format, (shown) => readableMessage(shown, false, 0, READABLE_CHARACTERS));
  if (query.extract === undefined) return { status: 200, body } as const;
  const wanted = query.extract.split(',');
  const { codes, links } = content ?? (await readContent(services.db, message));
  const extracts = presentExtracts({
    codes: wanted.includes('otp') ? codes : [],
    links: wanted.includes('links') ? links : [],
  });
  return { status: 200, body: { ...body, extracts } } as const;
}

async function answerRaw(request: ReadingRequest, mailboxId: string, id: string) {
  const message = await requireMessage(request, mailboxId, id);
  return { status: 200, ...rawDownload(request.services.db, message) } as const;
}

async function answerAttachment(request: ReadingRequest, mailboxId: string, id: string, attachmentId: string) {
  const message = await requireMessage(request, mailboxId, id);
  return { status: 200, ...(await attachmentDownload(request.services.db, message, attachmentId)) } as const;
}

export const messageRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'GET',
    path: '/messages',
    operationIds: ['listMailboxMessages', 'listMessages'],
    tag,
    summary: 'List messages, newest first',
    description:
      'Those in INBOX, unless `folder` or `label` asks for others; `folder=*` lists every folder. Mail labelled `unauthenticated` or `spam` is omitted unless `folder` or `label` asks for it.',
    query: MessagesQuery,
    responses: listResponses,
    handler: async (request, { id }) => answerList(request, id, request.query),
  }),
  ...onMailbox({
    method: 'GET',
    path: '/messages/:mid',
    operationIds: ['getMailboxMessage', 'getMessage'],
    tag,
    summary: 'Get a message',
    description: 'Reading does not mark it as seen.',
    params: OwnMessagePath,
    query: MessageQuery,
    etag: true,
    responses: messageResponses,
    errors: ['not_found'],
    handler: async (request, { id }) => answerMessage(request, id, request.params.mid, request.query),
  }),
  ...onMailbox({
    method: 'GET',
    path: '/messages/:mid/raw',
    operationIds: ['getMailboxMessageRaw', 'getMessageRaw'],
    tag,
    summary: 'Download the raw message',
    params: OwnMessagePath,
    responses: rawResponses,
    errors: ['not_found'],
    withoutCall: { mcp: 'Bytes of a whole message do not help a model; read_message gives its text.' },
    handler: async (request, { id }) => answerRaw(request, id, request.params.mid),
  }),
  ...onMailbox({
    method: 'GET',
    path: '/messages/:mid/attachments/:aid',
    operationIds: ['getMailboxMessageAttachment', 'getMessageAttachment'],
    tag,
    summary: 'Download an attachment',
    params: OwnAttachmentPath,
    responses: attachmentResponses,
    errors: ['not_found'],
    withoutCall: { mcp: 'read_attachment asks for the bytes only where there is no text, such as of a picture.' },
    handler: async (request, { id }) => answerAttachment(request, id, request.params.mid, request.params.aid),
  }),
];
