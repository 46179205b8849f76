/** Attachments of tools that send. Bytes of files pass by the model: it names a path, an id or a URL. */
import Type, { type Static } from 'typebox';
import type { CallOptions, MailboxClient, NewAttachment } from '#client/index.ts';
import { fileToUpload } from './local-file.ts';
import { UploadOutput } from './output-schemas.ts';
import { answer, type Tool, tool } from './tool.ts';

const closed = { additionalProperties: false } as const;
/** What a model may type: 64 KiB in base64. */
const INLINE_MAX_CHARACTERS = 87_384;

const ways = {
  fileId: Type.Optional(Type.String({ description: 'Id of an uploaded file, fil_….' })),
  messageId: Type.Optional(
    Type.String({ description: 'With attachmentId: an attachment of a message of this mailbox.' }),
  ),
  attachmentId: Type.Optional(Type.String()),
  url: Type.Optional(Type.String({ description: 'https URL of a public file, which the service fetches.' })),
  contentBase64: Type.Optional(
    Type.String({ maxLength: INLINE_MAX_CHARACTERS, description: 'At most 64 KiB, with contentType.' }),
  ),
  filename: Type.Optional(Type.String({ description: 'Default: the name of the file.' })),
  contentType: Type.Optional(Type.String({ description: 'Such as text/plain; default: the type of the file.' })),
};
const listOf = <Item extends ReturnType<typeof Type.Object>>(item: Item, description: string) =>
  Type.Optional(Type.Array(item, { maxItems: 100, description }));

const Remote = Type.Object(ways, closed);
const Local = Type.Object(
  {
    path: Type.Optional(Type.String({ description: 'Path of a file on this machine.' })),
    ...ways,
  },
  closed,
);

type Given = Static<typeof Local>;

/** The field of a tool, and its value as the API takes it. */
export interface Attachments {
  readonly field: ReturnType<typeof listOf<typeof Local>>;
  resolve(
    client: MailboxClient,
    given: readonly Given[] | undefined,
    call: CallOptions,
  ): Promise<{ readonly attachments?: readonly NewAttachment[] }>;
}

export const ATTACHMENTS: Attachments = {
  field: listOf(
    Remote as typeof Local,
    'Each is one of fileId (see create_upload), messageId with attachmentId, url, or small contentBase64.',
  ),
  resolve: async (_, given) => (given === undefined ? {} : { attachments: given }),
};

/** For programs that may only send. Attachments of messages are missing: the program could read them by sending them to itself. */
export const ATTACHMENTS_OF_SENDERS: Attachments = {
  field: listOf(
    Type.Omit(Remote, ['messageId', 'attachmentId'], closed) as unknown as typeof Local,
    'Each is one of fileId (see create_upload), url, or small contentBase64.',
  ),
  resolve: ATTACHMENTS.resolve,
};

/** Files of this machine are uploaded first: a path never leaves it. */
export const ATTACHMENTS_BY_PATH: Attachments = {
  field: listOf(
    Local,
    'Each is one of path (a file on this machine), fileId, messageId with attachmentId, url, or small contentBase64.',
  ),
  async resolve(client, given, call) {
    if (given === undefined) return {};
    const attachments: NewAttachment[] = [];
    for (const { path, ...rest } of given) {
      if (path === undefined) attachments.push(rest);
      else {
        const { id } = await client.files.upload(await fileToUpload(path), call);
        attachments.push({ ...rest, fileId: id });
      }
    }
    return { attachments };
  },
};

export const uploadTools: readonly Tool[] = [
  tool({
    name: 'create_upload',
    title: 'Make an upload URL',
    description:
      'For a file to attach: returns fileId and a URL that takes one PUT with the bytes of the file, without further credentials (curl -T report.pdf URL). Then attach it by fileId.',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    needs: 'send',
    output: UploadOutput,
    input: Type.Object(
      {
        filename: Type.String({ minLength: 1, maxLength: 255 }),
        contentType: Type.Optional(Type.String({ description: 'Such as application/pdf.' })),
      },
      closed,
    ),
    run: async (client, upload, call) => answer(await client.files.createUpload(upload, call)),
  }),
];
