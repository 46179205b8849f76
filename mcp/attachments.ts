/** Attachments of tools that send. Bytes of files pass by the model: it names a path, an id or a URL. */
import Type, { type Static } from 'typebox';
import type { MailboxClient, NewAttachment } from '#client/index.ts';
import { sharedFile } from './local-file.ts';
import { UploadOutput } from './output-schemas.ts';
import { answer, closed, type Tool, type ToolCall, tool } from './tool.ts';

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
    path: Type.Optional(Type.String({ description: 'Path of a file in a folder that is shared with this server.' })),
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
    call: ToolCall,
  ): Promise<{ readonly attachments?: readonly NewAttachment[] }>;
  /** Whether the host is asked for the folders that it shares. */
  needsRoots(input: { readonly attachments?: readonly Given[] | undefined }): boolean;
}

// A field that takes fewer ways is one of `Local`, all of whose fields may be missing.
export const ATTACHMENTS: Attachments = {
  field: listOf(
    Remote as typeof Local,
    'Each is one of fileId (see create_upload), messageId with attachmentId, url, or small contentBase64.',
  ),
  resolve: async (_, given) => (given === undefined ? {} : { attachments: given }),
  needsRoots: () => false,
};

/** For programs that may only send. Attachments of messages are missing: the program could read them by sending them to itself. */
export const ATTACHMENTS_OF_SENDERS: Attachments = {
  field: listOf(
    Type.Omit(Remote, ['messageId', 'attachmentId'], closed) as unknown as typeof Local,
    'Each is one of fileId (see create_upload), url, or small contentBase64.',
  ),
  resolve: ATTACHMENTS.resolve,
  needsRoots: ATTACHMENTS.needsRoots,
};

/** Which files of this machine a model may attach. */
export interface LocalFiles {
  /** Folders that a person shares; if there are none, those that the host shares (its `roots`). */
  readonly folders: readonly string[];
  /** Files and folders that are refused in any case: what this program stores itself. */
  readonly never: readonly string[];
}

/** Files of this machine are uploaded first: a path never leaves it. */
export const attachmentsByPath = ({ folders, never }: LocalFiles): Attachments => ({
  field: listOf(
    Local,
    'Each is one of path (a file in a shared folder), fileId, messageId with attachmentId, url, or small contentBase64.',
  ),
  async resolve(client, given, call) {
    if (given === undefined) return {};
    const attachments: NewAttachment[] = [];
    for (const { path, ...rest } of given) {
      if (path === undefined) attachments.push(rest);
      else {
        const file = await sharedFile(path, folders.length > 0 ? folders : call.roots, never);
        const { id } = await client.files.upload(file, call);
        attachments.push({ ...rest, fileId: id });
      }
    }
    return { attachments };
  },
  needsRoots: ({ attachments = [] }) => folders.length === 0 && attachments.some(({ path }) => path !== undefined),
});

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
