import Type from 'typebox';
import type { AnswerMessage, CallOptions, MailboxClient, Submitted } from '#client/index.ts';
import type { Attachments } from './attachments.ts';
import { MessageId } from './message-tools.ts';
import { OutboxOutput, SubmittedOutput, WithdrawOutput } from './output-schemas.ts';
import { answer, answerAfter, closed, LIST_DEFAULT, outcome, pageInput, READS, type Tool, tool } from './tool.ts';

export const SENDS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;
export const HELD_NOTE =
  ' Mail to a new recipient, and a reply that contains other mail, may be held until a person approves it: that is a normal result, not an error. Do not send it again; list_outbox shows whether and how it was decided. If it was sent back with a comment, change it and send it with resubmits.';

export const addresses = (description: string) =>
  Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })], { description });
/** The alias to write as. */
export const from = Type.Optional(
  Type.String({
    description: 'An alias of yours to write as; default: your address, of a reply the alias that the message came to.',
  }),
);
const copies = {
  cc: Type.Optional(addresses('Copies.')),
  bcc: Type.Optional(addresses('Copies nobody else sees.')),
};
const content = {
  from,
  text: Type.Optional(Type.String({ description: 'The text.' })),
  html: Type.Optional(Type.String({ description: 'The text as HTML, in addition to or instead of text.' })),
  sendAt: Type.Optional(
    Type.String({ description: 'Time to send it, ISO 8601; default: now. Until then withdraw cancels it.' }),
  ),
  resubmits: Type.Optional(
    Type.String({
      description:
        'con_… of a message of yours that a person sent back with a comment (decision returned): this is the changed message.',
    }),
  ),
  clientId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        'Your own id of this one message, for calling again when an answer was lost: the same message with the same id is not sent twice. Never reuse an id for another message: it is refused.',
    }),
  ),
};

const sentenceOf = (submitted: Submitted): string | undefined =>
  submitted.held || submitted.repeated ? submitted.message : undefined;

/** The result of sending. If the API explains it (held for approval, submitted before), that sentence comes first. */
function submittedAnswer(submitted: Submitted) {
  const { held: _, ...rest } = submitted;
  return answerAfter(sentenceOf(submitted), rest, submitted);
}

/** Like `submittedAnswer`, for answers to untrusted mail. */
export function submittedOutcome(submitted: Submitted) {
  const { held: _, ...rest } = submitted;
  const { content } = outcome(rest, sentenceOf(submitted));
  const { structuredContent = {} } = outcome(submitted);
  return { content, structuredContent };
}

const ASKED_SUBJECT_MAX_CHARACTERS = 200;

/** On one line: text that an agent or a stranger chose must not look like the end of the question. */
const inQuestion = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();

/** The question that the host shows its user before a message is sent. Recipients come first, so that no subject hides them. */
export function sendQuestion(
  subject: string,
  ...recipients: readonly (string | readonly string[] | undefined)[]
): string {
  const to = recipients.flatMap((each) => each ?? []).map(inQuestion);
  const about = inQuestion(subject);
  const shown =
    about.length > ASKED_SUBJECT_MAX_CHARACTERS ? `${about.slice(0, ASKED_SUBJECT_MAX_CHARACTERS)}…` : about;
  return `Send to ${to.join(', ') || 'its recipients'}: “${shown}”?`;
}

async function answerQuestion(client: MailboxClient, messageId: string, all: boolean, call: CallOptions) {
  const { subject, from, replyTo, to, cc } = await client.getMessage(messageId, { format: 'text' }, call);
  const sender = replyTo.length > 0 ? replyTo : [from ?? ''];
  return sendQuestion(`Re: ${subject}`, sender, ...(all ? [to, cc] : []));
}

/** @param attachments how files are attached over this transport */
export const sendTools = ({ field, resolve, needsRoots }: Attachments): readonly Tool[] => [
  tool({
    name: 'list_outbox',
    title: 'List messages that wait to be sent',
    description:
      'Your messages that are held for a person, scheduled, queued or being sent, and those decided or failed within 24 hours: the state, the reason, and the decision with the changes of the person.',
    annotations: READS,
    needs: 'read',
    output: OutboxOutput,
    input: Type.Object(pageInput, closed),
    async run(client, { limit = LIST_DEFAULT, cursor }, call) {
      const page = await client.listOutbox({ limit, ...(cursor === undefined ? {} : { cursor }) }, call);
      const messages = page.data.map(({ withdraw, ...message }) => ({ ...message, canWithdraw: withdraw !== null }));
      return outcome({ messages, nextCursor: page.nextCursor });
    },
  }),
  tool({
    name: 'withdraw',
    title: 'Withdraw a message',
    description:
      'Withdraws a held, scheduled or queued message of list_outbox: nobody gets it, and the draft it was made from is restored. A message that is being sent cannot be withdrawn.',
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    needs: 'change',
    output: WithdrawOutput,
    input: Type.Object({ messageId: MessageId }, closed),
    async run(client, { messageId }, call) {
      const { id, draftId } = await client.withdraw(messageId, call);
      return answer({ id, withdrawn: true, draftId });
    },
  }),
  tool({
    name: 'send_message',
    title: 'Send a message',
    description: `Sends mail as your mailbox.${HELD_NOTE}`,
    annotations: SENDS,
    needs: 'send',
    output: SubmittedOutput,
    confirm: (_, { subject, to, cc, bcc }) => sendQuestion(subject, to, cc, bcc),
    needsRoots,
    input: Type.Object(
      {
        to: addresses('One recipient or a list, as a@b.c or Name <a@b.c>.'),
        ...copies,
        subject: Type.String(),
        ...content,
        attachments: field,
      },
      closed,
    ),
    run: async (client, { attachments, ...message }, call) =>
      submittedAnswer(await client.sendMessage({ ...message, ...(await resolve(client, attachments, call)) }, call)),
  }),
  tool({
    name: 'reply_to_message',
    title: 'Reply to a message',
    description: `Replies to a message in its thread; "omitted" in the result lists addresses that do not get the reply.${HELD_NOTE}`,
    annotations: SENDS,
    needs: 'change',
    output: SubmittedOutput,
    confirm: (client, { messageId, all = false }, call) => answerQuestion(client, messageId, all, call),
    needsRoots,
    input: Type.Object(
      {
        messageId: MessageId,
        all: Type.Optional(Type.Boolean({ description: 'To all recipients; default: to its sender only.' })),
        to: Type.Optional(addresses('Further recipients.')),
        ...copies,
        subject: Type.Optional(Type.String({ description: 'Default: Re: and its subject.' })),
        ...content,
        attachments: field,
      },
      closed,
    ),
    async run(client, { messageId, all = false, attachments, ...message }, call) {
      const written: AnswerMessage = { ...message, ...(await resolve(client, attachments, call)) };
      const submitted = await (all
        ? client.replyAll(messageId, written, call)
        : client.reply(messageId, written, call));
      return submittedOutcome(submitted);
    },
  }),
  tool({
    name: 'forward_message',
    title: 'Forward a message',
    description: `Forwards a message: its text is quoted, and the whole message is attached.${HELD_NOTE}`,
    annotations: SENDS,
    needs: 'change',
    output: SubmittedOutput,
    confirm: async (client, { messageId, subject, to, cc, bcc }, call) =>
      sendQuestion(
        subject ?? `Fwd: ${(await client.getMessage(messageId, { format: 'text' }, call)).subject}`,
        to,
        cc,
        bcc,
      ),
    needsRoots,
    input: Type.Object(
      {
        messageId: MessageId,
        to: addresses('Recipients.'),
        ...copies,
        subject: Type.Optional(Type.String({ description: 'Default: Fwd: and its subject.' })),
        ...content,
        attachments: field,
      },
      closed,
    ),
    run: async (client, { messageId, attachments, ...message }, call) =>
      submittedOutcome(
        await client.forward(messageId, { ...message, ...(await resolve(client, attachments, call)) }, call),
      ),
  }),
];
