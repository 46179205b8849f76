import { type Route } from '#api/http/route.ts';
import { PageQuery } from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
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
  OwnDraftPath,
  SendDraft,
  UpdateDraft,
} from './schema.ts';

const tag = 'Drafts';

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

export const draftRoutes: readonly Route[] = [
  ...onMailbox({
    method: 'GET',
    path: '/drafts',
    operationIds: ['listMailboxDrafts', 'listDrafts'],
    tag,
    summary: 'List drafts, newest first',
    description:
      'All messages of the folder Drafts, including those that mail clients wrote. When a mail client edits a draft, it becomes another draft with another id.',
    query: PageQuery,
    responses: listResponses,
    findsMailbox: true,
    handler: (request, { id }) => answerDrafts(request, id, request.query),
  }),
  ...onMailbox({
    method: 'POST',
    path: '/drafts',
    operationIds: ['createMailboxDraft', 'createDraft'],
    tag,
    summary: 'Save a new draft',
    description:
      'A message in the folder Drafts, which mail clients see at once. All fields are optional. With `inReplyTo` it is a reply.',
    body: CreateDraft,
    bodyExample: createExample,
    bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
    responses: createResponses,
    errors: ['conflict', 'quota_exceeded'],
    findsMailbox: true,
    handler: (request, { id }) => answerCreate(request, id, request.body),
  }),
  ...onMailbox({
    method: 'GET',
    path: '/drafts/:did',
    operationIds: ['getMailboxDraft', 'getDraft'],
    tag,
    summary: 'Get a draft',
    description: 'Its attachments are read from the message: `GET …/messages/{messageId}/attachments/{id}`.',
    params: OwnDraftPath,
    etag: true,
    responses: draftResponses,
    errors: ['not_found'],
    findsMailbox: true,
    handler: (request, { id }) => answerDraft(request, id, request.params.did),
  }),
  ...onMailbox({
    method: 'PATCH',
    path: '/drafts/:did',
    operationIds: ['updateMailboxDraft', 'updateDraft'],
    tag,
    summary: 'Save a draft again',
    description:
      'Omitted fields do not change; lists replace the existing ones. The draft keeps its id and its Message-ID; the message in Drafts is replaced by a new one. Of two concurrent saves, one is a conflict.',
    params: OwnDraftPath,
    body: UpdateDraft,
    bodyExample: updateExample,
    bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
    responses: draftResponses,
    errors: ['not_found', 'conflict', 'quota_exceeded'],
    findsMailbox: true,
    handler: (request, { id }) => answerUpdate(request, id, request.params.did, request.body),
  }),
  ...onMailbox({
    method: 'DELETE',
    path: '/drafts/:did',
    operationIds: ['deleteMailboxDraft', 'deleteDraft'],
    tag,
    summary: 'Delete a draft',
    description: 'Permanently; it is not moved to the trash.',
    params: OwnDraftPath,
    responses: deleteResponses,
    errors: ['not_found'],
    findsMailbox: true,
    handler: (request, { id }) => answerDelete(request, id, request.params.did),
  }),
  ...onMailbox({
    method: 'POST',
    path: '/drafts/:did/send',
    operationIds: ['sendMailboxDraft', 'sendDraft'],
    tag,
    summary: 'Send a draft',
    description:
      'Removes the draft and submits the message in one step, by the same rules as every other message: it may be held for consent (202), which is not a failure. Sending the same draft again returns the sent message and sends nothing.',
    params: OwnDraftPath,
    body: SendDraft,
    bodyExample: { sendAt: '2099-11-21T09:16:02.481Z' },
    responses: submitResponses,
    errors: [
      'not_found',
      'conflict',
      'recipient_blocked',
      'content_refused',
      'sending_stopped',
      'drafts_only',
      'quota_exceeded',
    ],
    findsMailbox: true,
    handler: (request, { id }) => answerSend(request, id, request.params.did, request.body),
  }),
];
