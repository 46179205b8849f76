import type { Static } from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import type { Services } from '#core/platform/process/services.ts';
import { requireMailbox as requireMailboxOf } from '#db/queries/mailboxes/require-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import { readContent, readHtml } from '#mailstore/messages/message-content.ts';
import { findMessage, listMessages, readHeader, type StoredMessageContent } from '#mailstore/messages/read-messages.ts';
import { presentExtracts, presentMessage, presentSummary } from './present.ts';
import { attachmentDownload, rawDownload } from './reading/download.ts';
import { listFilterOf, requireFolder } from './reading/listed-folder.ts';
import {
  MailboxAttachmentPath,
  MailboxMessagePath,
  MailboxPath,
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
/** With an API key or session the path names the mailbox; with a mailbox token the token does. */
const ofMailbox = { scope: 'mailbox:read', mailboxToken: true } as const;
const OF_TOKEN = ' The mailbox is that of the token.';

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

const LIST_SUMMARY = 'List messages, newest first';
const LIST_DESCRIPTION =
  'Those in INBOX, unless `folder` or `label` asks for others; `folder=*` lists every folder. Mail labelled `unauthenticated` or `spam` is omitted unless `folder` or `label` asks for it.';
const GET_SUMMARY = 'Get a message';
const GET_DESCRIPTION = 'Reading does not mark it as seen.';
const RAW_SUMMARY = 'Download the raw message';
const ATTACHMENT_SUMMARY = 'Download an attachment';

async function answerList(services: Services, mailboxId: string, query: Static<typeof MessagesQuery>) {
  const page = pageOf('message', query);
  await requireFolder(services.db, mailboxId, query.folder);
  const rows = await listMessages(services.db, mailboxId, listFilterOf(query), page);
  return { status: 200, body: listBody(rows, page, presentSummary) } as const;
}

async function requireMessage(services: Services, mailboxId: string, id: string): Promise<StoredMessageContent> {
  const message = await findMessage(services.db, mailboxId, id);
  if (message === undefined) throw new CatalogueError('not_found');
  return message;
}

async function answerMessage(services: Services, mailboxId: string, id: string, query: Static<typeof MessageQuery>) {
  const message = await requireMessage(services, mailboxId, id);
  const format = query.format ?? 'full';
  const fields = await readHeader(services.db, message);
  const content = format === 'metadata' ? null : await readContent(services.db, message);
  const source = format === 'full' ? await readHtml(services.db, message) : null;
  const body = presentMessage(message, fields, content, source);
  if (query.extract === undefined) return { status: 200, body } as const;
  const wanted = query.extract.split(',');
  const { codes, links } = content ?? (await readContent(services.db, message));
  const extracts = presentExtracts({
    codes: wanted.includes('otp') ? codes : [],
    links: wanted.includes('links') ? links : [],
  });
  return { status: 200, body: { ...body, extracts } } as const;
}

async function answerRaw(services: Services, mailboxId: string, id: string) {
  return { status: 200, ...rawDownload(services.db, await requireMessage(services, mailboxId, id)) } as const;
}

async function answerAttachment(services: Services, mailboxId: string, id: string, attachmentId: string) {
  const message = await requireMessage(services, mailboxId, id);
  return { status: 200, ...(await attachmentDownload(services.db, message, attachmentId)) } as const;
}

/** The mailbox of the path, which must be one of the organization. */
const requireMailbox = async (services: Services, organizationId: string, id: string): Promise<string> =>
  (await requireMailboxOf(services.db, organizationId, id)).id;

export const messageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/messages',
    operationId: 'listMailboxMessages',
    tag,
    summary: LIST_SUMMARY,
    description: LIST_DESCRIPTION,
    auth: ofMailbox,
    params: MailboxPath,
    query: MessagesQuery,
    responses: listResponses,
    errors: ['not_found'],
    handler: async ({ services, organization, params, query }) =>
      answerList(services, await requireMailbox(services, organization.id, params.id), query),
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/messages/:mid',
    operationId: 'getMailboxMessage',
    tag,
    summary: GET_SUMMARY,
    description: GET_DESCRIPTION,
    auth: ofMailbox,
    params: MailboxMessagePath,
    query: MessageQuery,
    etag: true,
    responses: messageResponses,
    errors: ['not_found'],
    handler: async ({ services, organization, params, query }) =>
      answerMessage(services, await requireMailbox(services, organization.id, params.id), params.mid, query),
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/messages/:mid/raw',
    operationId: 'getMailboxMessageRaw',
    tag,
    summary: RAW_SUMMARY,
    auth: ofMailbox,
    params: MailboxMessagePath,
    responses: rawResponses,
    errors: ['not_found'],
    handler: async ({ services, organization, params }) =>
      answerRaw(services, await requireMailbox(services, organization.id, params.id), params.mid),
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/messages/:mid/attachments/:aid',
    operationId: 'getMailboxMessageAttachment',
    tag,
    summary: ATTACHMENT_SUMMARY,
    auth: ofMailbox,
    params: MailboxAttachmentPath,
    responses: attachmentResponses,
    errors: ['not_found'],
    handler: async ({ services, organization, params }) =>
      answerAttachment(services, await requireMailbox(services, organization.id, params.id), params.mid, params.aid),
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/messages',
    operationId: 'listMessages',
    tag,
    summary: LIST_SUMMARY,
    description: LIST_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    query: MessagesQuery,
    responses: listResponses,
    handler: async ({ services, principal, query }) => answerList(services, principal.id, query),
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/messages/:mid',
    operationId: 'getMessage',
    tag,
    summary: GET_SUMMARY,
    description: GET_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    params: OwnMessagePath,
    query: MessageQuery,
    etag: true,
    responses: messageResponses,
    errors: ['not_found'],
    handler: async ({ services, principal, params, query }) => answerMessage(services, principal.id, params.mid, query),
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/messages/:mid/raw',
    operationId: 'getMessageRaw',
    withoutCall: { mcp: 'Bytes of a whole message do not help a model; read_message gives its text.' },
    tag,
    summary: RAW_SUMMARY,
    auth: 'mailbox_token',
    params: OwnMessagePath,
    responses: rawResponses,
    errors: ['not_found'],
    handler: async ({ services, principal, params }) => answerRaw(services, principal.id, params.mid),
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/messages/:mid/attachments/:aid',
    operationId: 'getMessageAttachment',
    withoutCall: { mcp: 'read_attachment asks for the bytes only where there is no text, such as of a picture.' },
    tag,
    summary: ATTACHMENT_SUMMARY,
    auth: 'mailbox_token',
    params: OwnAttachmentPath,
    responses: attachmentResponses,
    errors: ['not_found'],
    handler: async ({ services, principal, params }) =>
      answerAttachment(services, principal.id, params.mid, params.aid),
  }),
];
