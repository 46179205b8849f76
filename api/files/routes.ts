import { type IncomingUpload, type Route, route } from '#api/http/route.ts';
import { PageQuery } from '#api/http/schema-parts.ts';
import { onMailbox } from '#api/mailboxes/on-mailbox.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  FILE_LIFE_HOURS,
  FILE_MAX_BYTES,
  FILES_PER_MAILBOX_MAX,
  FILES_PER_MAILBOX_MAX_BYTES,
  UPLOAD_URL_LIFE_MINUTES,
} from '#domain/mail/file-limits.ts';
import {
  answerDelete,
  answerFile,
  answerFiles,
  answerNewUpload,
  answerReceived,
  answerUploaded,
  receiveFile,
  receiveUpload,
} from './files.ts';
import {
  fileExample,
  NewUpload,
  newUploadExample,
  OwnFilePath,
  Upload,
  UploadedFile,
  UploadedFileList,
  UploadPath,
  UploadQuery,
  uploadExample,
} from './schema.ts';

const ATTACHED_AT_ONCE = '`--attach` uploads and attaches in one step; files are gone after a day.';
const ATTACHED_IN_CONVERSATION =
  'A tool takes a path, a file id or an upload URL, and the file is attached in the same conversation.';

const MIB_BYTES = 1024 * 1024;

const uploaded = { 201: { description: 'The file.', schema: UploadedFile, example: fileExample } } as const;

const UPLOAD_DESCRIPTION = `A file to attach by its id, \`{"attachments": [{"fileId": "fil_…"}]}\`, as often as you like within ${FILE_LIFE_HOURS} hours. The body is the file with its own Content-Type, or a form with one file. At most ${FILE_MAX_BYTES / MIB_BYTES} MiB; a message carries attachments of three quarters of that together, because base64 makes them longer. A mailbox has at most ${FILES_PER_MAILBOX_MAX} files of ${FILES_PER_MAILBOX_MAX_BYTES / MIB_BYTES} MiB together; they do not count against its quota. With an Idempotency-Key the content is compared too.`;

const GET = {
  tag: 'Files',
  method: 'GET',
  summary: 'Get an uploaded file',
  responses: { 200: uploaded[201] },
  errors: ['not_found'],
} as const;
const DELETE = {
  tag: 'Files',
  method: 'DELETE',
  summary: 'Delete an uploaded file',
  responses: { 204: { description: 'Deleted. Messages that it was attached to keep their copy.' } },
  errors: ['not_found'],
} as const;

/** The organization of an upload: routes of mailboxes always have one. */
function inOrganization({ services, organization }: IncomingUpload) {
  if (organization === null) throw new CatalogueError('forbidden');
  return { services, organization };
}

export const fileRoutes: readonly Route[] = [
  ...onMailbox({
    tag: 'Files',
    method: 'GET',
    summary: 'List uploaded files, newest first',
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of files.',
        schema: UploadedFileList,
        example: { data: [fileExample], nextCursor: null },
      },
    },
    path: '/files',
    operationIds: ['listMailboxFiles', 'listFiles'],
    description: 'Files that were uploaded and can be attached.',
    withoutCall: { cli: ATTACHED_AT_ONCE, mcp: ATTACHED_IN_CONVERSATION },
    findsMailbox: true,
    handler: (request, { id }) => answerFiles(request, id, request.query),
  }),
  ...onMailbox({
    tag: 'Files',
    method: 'POST',
    summary: 'Upload a file',
    query: UploadQuery,
    takesFile: true,
    tokenNeeds: 'send',
    responses: uploaded,
    path: '/files',
    operationIds: ['uploadMailboxFile', 'uploadFile'],
    description: UPLOAD_DESCRIPTION,
    errors: ['quota_exceeded'],
    receive: (upload, mailboxId) =>
      receiveFile(inOrganization(upload), mailboxId, upload.request, upload.query['filename']),
    findsMailbox: true,
    handler: (request) => answerReceived(request, request.received),
  }),
  ...onMailbox({
    tag: 'Files',
    method: 'POST',
    summary: 'Make an upload URL',
    body: NewUpload,
    bodyExample: newUploadExample,
    secretFields: ['url'],
    tokenNeeds: 'send',
    responses: { 201: { description: 'The URL, shown once.', schema: Upload, example: uploadExample } },
    errors: ['quota_exceeded'],
    path: '/files/uploads',
    operationIds: ['createMailboxUpload', 'createUpload'],
    description: `For a program without a credential: it sends the bytes with one PUT within ${UPLOAD_URL_LIFE_MINUTES} minutes. The id of the file is known at once.`,
    withoutCall: { cli: ATTACHED_AT_ONCE },
    findsMailbox: true,
    handler: (request, { id }) => answerNewUpload(request, id, request.body, request.publicUrl),
  }),
  ...onMailbox({
    ...GET,
    path: '/files/:fid',
    operationIds: ['getMailboxFile', 'getFile'],
    params: OwnFilePath,
    withoutCall: { cli: ATTACHED_AT_ONCE, mcp: ATTACHED_IN_CONVERSATION },
    findsMailbox: true,
    handler: (request, { id }) => answerFile(request, id, request.params.fid),
  }),
  ...onMailbox({
    ...DELETE,
    path: '/files/:fid',
    operationIds: ['deleteMailboxFile', 'deleteFile'],
    params: OwnFilePath,
    withoutCall: { cli: ATTACHED_AT_ONCE, mcp: ATTACHED_IN_CONVERSATION },
    findsMailbox: true,
    handler: (request, { id }) => answerDelete(request, id, request.params.fid),
  }),
  route({
    tag: 'Files',
    method: 'PUT',
    path: '/api/uploads/:upload',
    operationId: 'uploadByUrl',
    withoutCall: {
      client: 'The URL is for programs without a credential: any HTTP client sends the file with one PUT.',
    },
    summary: 'Upload a file to its upload URL',
    description:
      'The body is the file, or a form with one file. The URL works once; after an interrupted upload it can be used again while it is valid. Name and type are those the URL was made with.',
    auth: 'public',
    params: UploadPath,
    takesFile: true,
    responses: uploaded,
    errors: ['not_found'],
    receive: ({ services, request, params }) => receiveUpload(services, request, params['upload'] ?? ''),
    handler: async ({ received }) => answerUploaded(received),
  }),
];
