/** From the body of a request to a saved or sent draft. */
import type { Static } from 'typebox';
import { listBody, pageOf } from '#api/http/schema-parts.ts';
import {
  answerRepeated,
  named,
  type Reply,
  type SendContext,
  submitDraft,
  writtenAs,
} from '#api/messages/sending/send.ts';
import { type ClientId, hashOfContent } from '#core/platform/client-id.ts';
import { findOwnAddresses } from '#db/queries/mailboxes/own-addresses.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import { isOneOf } from '#domain/mail/mailbox-address.ts';
import type { EnvelopeMailbox } from '#domain/webhooks/event-types.ts';
import { readBlob } from '#mailstore/blobs/blob-store.ts';
import type { MailNotifier } from '#mailstore/changes/notifier.ts';
import {
  createDraft,
  type DraftRow,
  type DraftSave,
  type DraftStore,
  deleteDraft,
  findDraft,
  findRepeatedDraft,
  listDrafts,
  replaceDraft,
} from '#mailstore/messages/drafts.ts';
import { findMessage, findMessages, readHeader } from '#mailstore/messages/read-messages.ts';
import { type EditableMessage, editableMessage } from '#mime/editable-message.ts';
import {
  answeringAlias,
  answerRecipients,
  answerReferences,
  authorOf,
  hashOfLetter,
  prefixedSubject,
} from '#sending/compose/answer-letter.ts';
import {
  checkHeaders,
  composeMessage,
  envelopeRecipients,
  isOwnField,
  readAddresses,
} from '#sending/compose/compose-message.ts';
import { readAttachments } from '#sending/compose/given-attachments.ts';
import { withDate } from '#sending/compose/prepare-message.ts';
import { findSubmitted } from '#sending/outbox/find-submitted.ts';
import {
  type CreateDraft,
  type CreatedDraft,
  type Draft,
  presentDraft,
  presentDraftSummary,
  type SendDraft,
  type UpdateDraft,
} from './schema.ts';

interface DraftContext extends SendContext {
  readonly notifier: MailNotifier;
}

type DraftReply = { readonly status: 200; readonly body: Static<typeof Draft> };
type CreationReply = { readonly status: 200 | 201; readonly body: Static<typeof CreatedDraft> };

const mailboxOf = ({ services, organization }: DraftContext, id: string): Promise<EnvelopeMailbox> =>
  requireMailbox(services.db, organization.id, id);

const storeOf = ({ services: { db, now }, notifier }: DraftContext): DraftStore => ({ db, notifier, now });

const accountOf = ({ id, address }: EnvelopeMailbox) => ({ mailboxId: id, address });

async function requireDraft({ services }: DraftContext, mailboxId: string, id: string): Promise<DraftRow> {
  const draft = await findDraft(services.db, mailboxId, id);
  if (draft === undefined)
    throw new CatalogueError(
      'not_found',
      'There is no such draft: it was sent or deleted, or a mail client replaced it by another draft.',
    );
  return draft;
}

async function contentOf({ services }: DraftContext, { blob, size }: DraftRow): Promise<EditableMessage> {
  return editableMessage(await readBlob(services.db, blob, 0, size), isOwnField);
}

async function shown(context: DraftContext, mailboxId: string, id: string): Promise<Static<typeof Draft>> {
  const draft = await requireDraft(context, mailboxId, id);
  const message = await findMessage(context.services.db, mailboxId, draft.messageId);
  if (message === undefined) throw new CatalogueError('not_found');
  return presentDraft(draft, message, await contentOf(context, draft));
}

export async function answerDrafts(context: DraftContext, id: string, query: { limit?: number; cursor?: string }) {
  const { db } = context.services;
  const mailbox = await mailboxOf(context, id);
  const page = pageOf('draft', query);
  const drafts = await listDrafts(db, mailbox.id, page);
  const messages = await findMessages(
    db,
    mailbox.id,
    drafts.map(({ messageId }) => messageId),
  );
  const byId = new Map(messages.map((message) => [message.id, message]));
  // Drafts replaced between the two queries are omitted; the next page continues after them.
  const rows = drafts.flatMap((draft) => {
    const message = byId.get(draft.messageId);
    return message === undefined ? [] : [{ id: draft.id, draft, message }];
  });
  return {
    status: 200,
    body: listBody(rows, page, ({ draft, message }) => presentDraftSummary(draft, message)),
  } as const;
}

export async function answerDraft(context: DraftContext, mailboxId: string, id: string): Promise<DraftReply> {
  const mailbox = await mailboxOf(context, mailboxId);
  return { status: 200, body: await shown(context, mailbox.id, id) };
}

/** The bytes of a saved draft: with Bcc, and with the Message-ID that it keeps until it is sent. */
function saveOf(
  { services }: DraftContext,
  mailbox: EnvelopeMailbox,
  content: DraftContent,
  rest: Omit<DraftSave, 'bytes'>,
): Promise<DraftSave> {
  const { messageId, ...letter } = content;
  return composeMessage({
    ...letter,
    from: authorOf(mailbox, letter.from),
    date: new Date(services.now()),
    ...(messageId === undefined ? {} : { messageId }),
    keepBcc: true,
  }).then((bytes) => ({ bytes, ...rest }));
}

/** With the alias that it is written as; absent: the address of the mailbox. */
type DraftContent = EditableMessage & { readonly from?: string };

/** The alias that a saved draft is written as, if it is still one. */
async function aliasOfDraft(
  { services: { db } }: DraftContext,
  mailbox: EnvelopeMailbox,
  { messageId }: DraftRow,
): Promise<{ readonly from?: string }> {
  const address = (await findMessage(db, mailbox.id, messageId))?.from[0]?.address ?? mailbox.address;
  const isAlias = address !== mailbox.address && isOneOf(await findOwnAddresses(db, mailbox.id), address);
  return isAlias ? { from: address } : {};
}

const EMPTY: EditableMessage = {
  to: [],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: '',
  text: undefined,
  html: undefined,
  attachments: [],
  headers: {},
  messageId: undefined,
  inReplyTo: undefined,
  references: [],
};

/** The initial draft, before the fields of the request: a reply to a message, or empty. */
async function beginningOf(
  context: DraftContext,
  mailbox: EnvelopeMailbox,
  { inReplyTo, replyAll = true, to, cc, bcc }: Static<typeof CreateDraft>,
): Promise<DraftContent> {
  const { db } = context.services;
  if (inReplyTo === undefined) return EMPTY;
  const message = await findMessage(db, mailbox.id, inReplyTo);
  if (message === undefined)
    throw new CatalogueError('invalid_request', undefined, {
      details: [{ path: '/inReplyTo', message: 'is not a message of this mailbox' }],
    });
  const fields = await readHeader(db, message);
  const addressed = to !== undefined || cc !== undefined || bcc !== undefined;
  const own = await findOwnAddresses(db, mailbox.id);
  const answer = answerRecipients(fields, own, replyAll);
  const alias = answeringAlias(message, own);
  return {
    ...EMPTY,
    ...(alias === undefined ? {} : { from: alias }),
    ...(addressed ? {} : { to: answer.to, cc: answer.cc }),
    subject: prefixedSubject('Re', message.subject),
    ...answerReferences(fields),
  };
}

/** The content with the fields of a request replacing the existing ones. */
async function changed(
  { services }: DraftContext,
  mailboxId: string,
  before: DraftContent,
  body: Static<typeof UpdateDraft>,
): Promise<DraftContent> {
  const given = named(body);
  if (body.headers !== undefined) checkHeaders(body.headers);
  return {
    ...before,
    ...(body.from === undefined ? {} : writtenAs(await findOwnAddresses(services.db, mailboxId), body.from)),
    ...(body.to === undefined ? {} : { to: given.to }),
    ...(body.cc === undefined ? {} : { cc: given.cc }),
    ...(body.bcc === undefined ? {} : { bcc: given.bcc }),
    ...(body.replyTo === undefined ? {} : { replyTo: readAddresses(body.replyTo, '/replyTo') }),
    ...(body.subject === undefined ? {} : { subject: body.subject }),
    ...(body.text === undefined ? {} : { text: body.text ?? undefined }),
    ...(body.html === undefined ? {} : { html: body.html ?? undefined }),
    ...(body.attachments === undefined
      ? {}
      : { attachments: await readAttachments(services, mailboxId, body.attachments) }),
    ...(body.headers === undefined ? {} : { headers: body.headers }),
  };
}

export async function answerCreate(
  context: DraftContext,
  mailboxId: string,
  body: Static<typeof CreateDraft>,
): Promise<CreationReply> {
  const mailbox = await mailboxOf(context, mailboxId);
  const { clientId, ...asked } = body;
  const { inReplyTo: _, replyAll: __, sendAt, labels = [], ...given } = asked;
  const answer = async (id: string, repeated: boolean): Promise<CreationReply> => ({
    status: repeated ? 200 : 201,
    body: { ...(await shown(context, mailbox.id, id)), repeated },
  });
  const known = clientId === undefined ? null : { id: clientId, hashes: [hashOfContent(asked)] };
  // Before what the request refers to is read: it may be gone.
  const earlier = known && (await findRepeatedDraft(context.services.db, mailbox.id, known));
  if (typeof earlier === 'string') return answer(earlier, true);
  const content = await changed(context, mailbox.id, await beginningOf(context, mailbox, body), given);
  const rest = { labels, sendAt: sendAt === undefined ? null : new Date(sendAt) };
  const save = await saveOf(context, mailbox, content, rest);
  const own = known && {
    ...known,
    hashes: [...known.hashes, hashOfLetter(content, { ...rest, onlyFor: null })],
  };
  const { id, created } = await createDraft(storeOf(context), accountOf(mailbox), save, own);
  return answer(id, !created);
}

export async function answerUpdate(
  context: DraftContext,
  mailboxId: string,
  id: string,
  body: Static<typeof UpdateDraft>,
): Promise<DraftReply> {
  const mailbox = await mailboxOf(context, mailboxId);
  const draft = await requireDraft(context, mailbox.id, id);
  const { sendAt, labels = draft.labels, ...content } = body;
  const before = { ...(await contentOf(context, draft)), ...(await aliasOfDraft(context, mailbox, draft)) };
  const save = await saveOf(context, mailbox, await changed(context, mailbox.id, before, content), {
    labels,
    sendAt: sendAt === undefined ? draft.sendAt : sendAt === null ? null : new Date(sendAt),
  });
  await replaceDraft(storeOf(context), accountOf(mailbox), draft, save);
  return { status: 200, body: await shown(context, mailbox.id, id) };
}

export async function answerDelete(context: DraftContext, mailboxId: string, id: string) {
  const mailbox = await mailboxOf(context, mailboxId);
  if (!(await deleteDraft(storeOf(context), accountOf(mailbox), id))) throw new CatalogueError('not_found');
  return { status: 204 } as const;
}

/** Of the submission of a draft. */
const clientIdOf = (draftId: string): ClientId => ({ id: draftId, hashes: [hashOfContent({ draftId })] });

/**
 * Sends the bytes of the draft, without its Bcc and with the date of sending. The draft's id is the client id of the
 * submission: sending it again answers what was sent.
 */
export async function answerSend(
  context: DraftContext,
  mailboxId: string,
  id: string,
  body: Static<typeof SendDraft>,
): Promise<Reply> {
  const { services } = context;
  const mailbox = await mailboxOf(context, mailboxId);
  const clientId = clientIdOf(id);
  const earlier = await findSubmitted(services.db, mailbox.id, clientId);
  if (earlier !== undefined) return answerRepeated(context, earlier);
  const draft = await requireDraft(context, mailbox.id, id);
  const sendAt = body.sendAt === undefined ? draft.sendAt : body.sendAt === null ? null : new Date(body.sendAt);
  const bytes = await readBlob(services.db, draft.blob, 0, draft.size);
  const letter = { ...editableMessage(bytes, isOwnField), ...(await aliasOfDraft(context, mailbox, draft)) };
  return submitDraft(context, mailbox, withDate(bytes, sendAt ?? new Date(services.now())), letter, {
    recipients: envelopeRecipients([letter.to, letter.cc, letter.bcc]),
    labels: draft.labels,
    clientId,
    sendAt,
    draftMessageId: draft.messageId,
  });
}
