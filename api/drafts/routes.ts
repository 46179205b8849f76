import { type Route, route } from '#api/http/route.ts';
import { PageQuery } from '#api/http/schema-parts.ts';
import { MailboxPath } from '#api/messages/schema.ts';
import { submitResponses } from '#api/messages/sending/send-routes.ts';
import { SEND_BODY_LIMIT_BYTES } from '#api/messages/sending/send-schema.ts';
import { answerCreate, answerDelete, answerDraft, answerDrafts, answerSend, answerUpdate } from './drafts.ts';
import {
  CreateDraft,
  CreatedDraft,
  Draft,
  DraftList,
  draftExample,
  draftSummaryExample,
  MailboxDraftPath,
  OwnDraftPath,
  SendDraft,
  UpdateDraft,
} from './schema.ts';

const tag = 'Drafts';
/** With an API key or session the path names the mailbox; with a mailbox token the token does. */
const reads = { scope: 'mailbox:read', mailboxToken: true } as const;
const writes = { scope: 'mailbox:write', mailboxToken: true } as const;
const OF_TOKEN = ' The mailbox is that of the token.';

const listResponses = {
  200: {
    description: 'A page of drafts.',
    schema: DraftList,
    example: { data: [draftSummaryExample], nextCursor: null },
  },
} as const;
const draftResponses = { 200: { description: 'The draft.', schema: Draft, example: draftExample } } as const;
const createResponses = {
  200: {
    description: 'The existing draft with this `clientId`.',
    schema: CreatedDraft,
    example: { ...draftExample, repeated: true },
  },
  201: { description: 'The new draft.', schema: CreatedDraft, example: { ...draftExample, repeated: false } },
} as const;
const deleteResponses = { 204: { description: 'Deleted.' } } as const;

const createExample = {
  to: ['Ada Byron <ada@customer.example>'],
  subject: 'Your order 4711',
  text: 'Dear Ada,',
  clientId: 'order-4711',
};
const updateExample = { text: 'Dear Ada, your order is on its way.', bcc: ['archive@acme.example'] };

const LIST_SUMMARY = 'List drafts, newest first';
const LIST_DESCRIPTION =
  'All messages of the folder Drafts, including those that mail clients wrote. When a mail client edits a draft, it becomes another draft with another id.';
const CREATE_SUMMARY = 'Save a new draft';
const CREATE_DESCRIPTION =
  'A message in the folder Drafts, which mail clients see at once. All fields are optional. With `inReplyTo` it is a reply.';
const GET_SUMMARY = 'Get a draft';
const GET_DESCRIPTION = 'Its attachments are read from the message: `GET …/messages/{messageId}/attachments/{id}`.';
const UPDATE_SUMMARY = 'Save a draft again';
const UPDATE_DESCRIPTION =
  'Omitted fields do not change; lists replace the existing ones. The draft keeps its id and its Message-ID; the message in Drafts is replaced by a new one. Of two concurrent saves, one is a conflict.';
const DELETE_SUMMARY = 'Delete a draft';
const DELETE_DESCRIPTION = 'Permanently; it is not moved to the trash.';
const SEND_SUMMARY = 'Send a draft';
const SEND_DESCRIPTION =
  'Removes the draft and submits the message in one step, by the same rules as every other message: it may be held for consent (202), which is not a failure. Sending the same draft again returns the sent message and sends nothing.';

export const draftRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/drafts',
    operationId: 'listMailboxDrafts',
    tag,
    summary: LIST_SUMMARY,
    description: LIST_DESCRIPTION,
    auth: reads,
    params: MailboxPath,
    query: PageQuery,
    responses: listResponses,
    errors: ['not_found'],
    handler: (request) => answerDrafts(request, request.params.id, request.query),
  }),
  route({
    method: 'POST',
    path: '/api/mailboxes/:id/drafts',
    operationId: 'createMailboxDraft',
    tag,
    summary: CREATE_SUMMARY,
    description: CREATE_DESCRIPTION,
    auth: writes,
    params: MailboxPath,
    body: CreateDraft,
    bodyExample: createExample,
    bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
    responses: createResponses,
    errors: ['not_found', 'conflict', 'quota_exceeded'],
    handler: (request) => answerCreate(request, request.params.id, request.body),
  }),
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/drafts/:did',
    operationId: 'getMailboxDraft',
    tag,
    summary: GET_SUMMARY,
    description: GET_DESCRIPTION,
    auth: reads,
    params: MailboxDraftPath,
    etag: true,
    responses: draftResponses,
    errors: ['not_found'],
    handler: (request) => answerDraft(request, request.params.id, request.params.did),
  }),
  route({
    method: 'PATCH',
    path: '/api/mailboxes/:id/drafts/:did',
    operationId: 'updateMailboxDraft',
    tag,
    summary: UPDATE_SUMMARY,
    description: UPDATE_DESCRIPTION,
    auth: writes,
    params: MailboxDraftPath,
    body: UpdateDraft,
    bodyExample: updateExample,
    bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
    responses: draftResponses,
    errors: ['not_found', 'conflict', 'quota_exceeded'],
    handler: (request) => answerUpdate(request, request.params.id, request.params.did, request.body),
  }),
  route({
    method: 'DELETE',
    path: '/api/mailboxes/:id/drafts/:did',
    operationId: 'deleteMailboxDraft',
    tag,
    summary: DELETE_SUMMARY,
    description: DELETE_DESCRIPTION,
    auth: writes,
    params: MailboxDraftPath,
    responses: deleteResponses,
    errors: ['not_found'],
    handler: (request) => answerDelete(request, request.params.id, request.params.did),
  }),
  route({
    method: 'POST',
    path: '/api/mailboxes/:id/drafts/:did/send',
    operationId: 'sendMailboxDraft',
    tag,
    summary: SEND_SUMMARY,
    description: SEND_DESCRIPTION,
    auth: writes,
    params: MailboxDraftPath,
    body: SendDraft,
    bodyExample: { sendAt: '2099-11-21T09:16:02.481Z' },
    responses: submitResponses,
    errors: ['not_found', 'conflict', 'recipient_blocked', 'sending_stopped', 'drafts_only', 'quota_exceeded'],
    handler: (request) => answerSend(request, request.params.id, request.params.did, request.body),
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/drafts',
    operationId: 'listDrafts',
    tag,
    summary: LIST_SUMMARY,
    description: LIST_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    query: PageQuery,
    responses: listResponses,
    handler: (request) => answerDrafts(request, request.principal.id, request.query),
  }),
  route({
    method: 'POST',
    path: '/api/mailbox/drafts',
    operationId: 'createDraft',
    tag,
    summary: CREATE_SUMMARY,
    description: CREATE_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    body: CreateDraft,
    bodyExample: createExample,
    bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
    responses: createResponses,
    errors: ['conflict', 'quota_exceeded'],
    handler: (request) => answerCreate(request, request.principal.id, request.body),
  }),
  route({
    method: 'GET',
    path: '/api/mailbox/drafts/:did',
    operationId: 'getDraft',
    tag,
    summary: GET_SUMMARY,
    description: GET_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    params: OwnDraftPath,
    etag: true,
    responses: draftResponses,
    errors: ['not_found'],
    handler: (request) => answerDraft(request, request.principal.id, request.params.did),
  }),
  route({
    method: 'PATCH',
    path: '/api/mailbox/drafts/:did',
    operationId: 'updateDraft',
    tag,
    summary: UPDATE_SUMMARY,
    description: UPDATE_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    params: OwnDraftPath,
    body: UpdateDraft,
    bodyExample: updateExample,
    bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
    responses: draftResponses,
    errors: ['not_found', 'conflict', 'quota_exceeded'],
    handler: (request) => answerUpdate(request, request.principal.id, request.params.did, request.body),
  }),
  route({
    method: 'DELETE',
    path: '/api/mailbox/drafts/:did',
    operationId: 'deleteDraft',
    tag,
    summary: DELETE_SUMMARY,
    description: DELETE_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    params: OwnDraftPath,
    responses: deleteResponses,
    errors: ['not_found'],
    handler: (request) => answerDelete(request, request.principal.id, request.params.did),
  }),
  route({
    method: 'POST',
    path: '/api/mailbox/drafts/:did/send',
    operationId: 'sendDraft',
    tag,
    summary: SEND_SUMMARY,
    description: SEND_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    params: OwnDraftPath,
    body: SendDraft,
    bodyExample: { sendAt: '2099-11-21T09:16:02.481Z' },
    responses: submitResponses,
    errors: ['not_found', 'conflict', 'recipient_blocked', 'sending_stopped', 'drafts_only', 'quota_exceeded'],
    handler: (request) => answerSend(request, request.principal.id, request.params.did, request.body),
  }),
];
