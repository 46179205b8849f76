import Type from 'typebox';
import type { AnswerMessage, Submitted } from '../client/index.ts';
import { MessageId } from './read-tools.ts';
import { json, type Tool, texts, tool } from './tool.ts';
import { fencedOutcome } from './untrusted.ts';

const SENDS = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true } as const;
const HELD_NOTE =
  ' Mail to somebody new may be held until a person approves it: that is a normal result, not an error. Do not send it again; message_status tells when it is decided.';

const closed = { additionalProperties: false } as const;
const addresses = (description: string) => Type.Array(Type.String(), { maxItems: 100, description });
const copies = {
  cc: Type.Optional(addresses('Copies.')),
  bcc: Type.Optional(addresses('Copies nobody else sees.')),
};
const content = {
  text: Type.Optional(Type.String({ description: 'The text.' })),
  html: Type.Optional(Type.String({ description: 'The text as HTML, beside or instead of text.' })),
  attachments: Type.Optional(
    Type.Array(
      Type.Object(
        {
          filename: Type.Optional(Type.String()),
          contentType: Type.String({ description: 'Such as text/plain.' }),
          contentBase64: Type.String(),
        },
        closed,
      ),
      { maxItems: 100 },
    ),
  ),
  sendAt: Type.Optional(
    Type.String({ description: 'When it goes, ISO 8601; default: now. delete_message takes it back until then.' }),
  ),
  clientId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Your own id of the message: calling again with it sends nothing and answers the first message.',
    }),
  ),
};

/** Held or sent, the API's own sentence comes first where there is one. @param show the rest of the answer as text */
function result(submitted: Submitted, show: (answer: object) => string) {
  const { held, ...answer } = submitted;
  return held ? texts(submitted.message, show(answer)) : texts(show(answer));
}

export const sendTools: readonly Tool[] = [
  tool({
    name: 'send_message',
    title: 'Send a message',
    description: `Sends mail as your mailbox.${HELD_NOTE}`,
    annotations: SENDS,
    input: Type.Object(
      {
        to: addresses('Recipients, as a@b.c or Name <a@b.c>.'),
        ...copies,
        subject: Type.String(),
        ...content,
      },
      closed,
    ),
    run: async (client, message, call) => result(await client.sendMessage(message, call), json),
  }),
  tool({
    name: 'reply_to_message',
    title: 'Answer a message',
    description: `Answers a message in its thread; "omitted" of the result lists who does not get the answer.${HELD_NOTE}`,
    annotations: SENDS,
    input: Type.Object(
      {
        messageId: MessageId,
        all: Type.Optional(Type.Boolean({ description: 'To everybody who got it; default: to its sender alone.' })),
        to: Type.Optional(addresses('Further recipients.')),
        ...copies,
        subject: Type.Optional(Type.String({ description: 'Default: Re: and its subject.' })),
        ...content,
      },
      closed,
    ),
    async run(client, { messageId, all = false, ...message }, call) {
      const answer: AnswerMessage = message;
      const submitted = await (all ? client.replyAll(messageId, answer, call) : client.reply(messageId, answer, call));
      return result(submitted, fencedOutcome);
    },
  }),
  tool({
    name: 'forward_message',
    title: 'Forward a message',
    description: `Hands a message on: its text quoted, the whole of it attached.${HELD_NOTE}`,
    annotations: SENDS,
    input: Type.Object(
      {
        messageId: MessageId,
        to: addresses('Recipients.'),
        ...copies,
        subject: Type.Optional(Type.String({ description: 'Default: Fwd: and its subject.' })),
        ...content,
      },
      closed,
    ),
    run: async (client, { messageId, ...message }, call) =>
      result(await client.forward(messageId, message, call), fencedOutcome),
  }),
];
