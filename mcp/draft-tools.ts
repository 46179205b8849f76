/** Drafts: messages that the agent, or a person, sends later. */
import Type from 'typebox';
import type { Draft } from '#client/index.ts';
import type { Attachments } from './attachments.ts';
import { DeletedOutput, DraftOutput, DraftsOutput, SubmittedOutput } from './output-schemas.ts';
import { addresses, from, HELD_NOTE, SENDS, sendQuestion, submittedOutcome } from './send-tools.ts';
import { answer, closed, LIST_DEFAULT, mail, pageInput, READS, type Tool, tool } from './tool.ts';

const CHANGES = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false } as const;

const DraftId = Type.String({ description: 'Id of a draft, drf_….' });
const letter = {
  from,
  to: Type.Optional(addresses('One recipient or a list, as a@b.c or Name <a@b.c>.')),
  cc: Type.Optional(addresses('Copies.')),
  bcc: Type.Optional(addresses('Copies nobody else sees.')),
  subject: Type.Optional(Type.String()),
  text: Type.Optional(Type.String({ description: 'The text.' })),
  html: Type.Optional(Type.String({ description: 'The text as HTML, in addition to or instead of text.' })),
  sendAt: Type.Optional(Type.String({ description: 'Time to send it after send_draft, ISO 8601.' })),
};

/** The fields an agent needs to continue; the subject and quoted text may be untrusted. */
const shown = ({ id, threadId, to, cc, bcc, subject, text, attachments, sendAt, inReplyTo, updatedAt }: Draft) => ({
  id,
  threadId,
  to,
  cc,
  bcc,
  subject,
  text,
  attachments: attachments.map(({ filename, contentType, sizeBytes }) => ({ filename, contentType, sizeBytes })),
  sendAt,
  inReplyTo,
  updatedAt,
});

/** @param attachments how files are attached over this transport */
export const draftTools = ({ field, resolve, needsRoots }: Attachments): readonly Tool[] => [
  tool({
    name: 'list_drafts',
    title: 'List drafts',
    description: 'Lists drafts, most recently saved first. Read one with read_draft.',
    annotations: READS,
    needs: 'read',
    output: DraftsOutput,
    input: Type.Object(pageInput, closed),
    async run(client, { limit = LIST_DEFAULT, cursor }, call) {
      const page = await client.listDrafts({ limit, ...(cursor === undefined ? {} : { cursor }) }, call);
      const drafts = page.data.map(({ id, threadId, to, cc, subject, preview, attachments, sendAt, updatedAt }) => ({
        id,
        threadId,
        to,
        cc,
        subject,
        preview,
        attachments: attachments.length,
        sendAt,
        updatedAt,
      }));
      return mail({ drafts, nextCursor: page.nextCursor });
    },
  }),
  tool({
    name: 'read_draft',
    title: 'Read a draft',
    description: 'A draft with its text and recipients.',
    annotations: READS,
    needs: 'read',
    output: DraftOutput,
    input: Type.Object({ draftId: DraftId }, closed),
    run: async (client, { draftId }, call) => mail(shown(await client.getDraft(draftId, call))),
  }),
  tool({
    name: 'create_draft',
    title: 'Save a draft',
    description:
      'Saves a message without sending it. With inReplyTo it is a reply: recipients and subject are set, unless you give them.',
    annotations: CHANGES,
    needs: 'change',
    needsRoots,
    output: DraftOutput,
    input: Type.Object(
      {
        ...letter,
        inReplyTo: Type.Optional(Type.String({ description: 'Id of the message it answers, msg_….' })),
        replyAll: Type.Optional(
          Type.Boolean({ description: 'With inReplyTo: whether to reply to all recipients; default true.' }),
        ),
        attachments: field,
      },
      closed,
    ),
    run: async (client, { attachments, ...draft }, call) =>
      mail(shown(await client.createDraft({ ...draft, ...(await resolve(client, attachments, call)) }, call))),
  }),
  tool({
    name: 'update_draft',
    title: 'Change a draft',
    description: 'Changes the fields that are given; lists, such as attachments, are replaced as a whole.',
    annotations: { ...CHANGES, idempotentHint: true },
    needs: 'change',
    needsRoots,
    output: DraftOutput,
    input: Type.Object({ draftId: DraftId, ...letter, attachments: field }, closed),
    run: async (client, { draftId, attachments, ...changes }, call) =>
      mail(
        shown(await client.updateDraft(draftId, { ...changes, ...(await resolve(client, attachments, call)) }, call)),
      ),
  }),
  tool({
    name: 'send_draft',
    title: 'Send a draft',
    description: `Sends a draft and removes it from the drafts.${HELD_NOTE}`,
    annotations: SENDS,
    needs: 'change',
    output: SubmittedOutput,
    input: Type.Object(
      {
        draftId: DraftId,
        sendAt: Type.Optional(Type.String({ description: 'Time to send it, instead of the stored one; ISO 8601.' })),
      },
      closed,
    ),
    async confirm(client, { draftId }, call) {
      const { subject, to, cc, bcc } = await client.getDraft(draftId, call);
      return sendQuestion(subject, to, cc, bcc);
    },
    run: async (client, { draftId, ...sending }, call) =>
      submittedOutcome(await client.sendDraft(draftId, sending, call)),
  }),
  tool({
    name: 'delete_draft',
    title: 'Delete a draft',
    description: 'Deletes a draft for good.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    needs: 'change',
    output: DeletedOutput,
    input: Type.Object({ draftId: DraftId }, closed),
    async run(client, { draftId }, call) {
      await client.deleteDraft(draftId, call);
      return answer({ id: draftId, deleted: true });
    },
  }),
];
