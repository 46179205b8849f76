import { type IncomingUpload, type Route, route } from '#api/http/route.ts';
import { PageQuery } from '#api/http/schema-parts.ts';
import { MailboxPath } from '#api/messages/schema.ts';
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
  MailboxFilePath,
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
/** With an API key or session the path names the mailbox; with a mailbox token the token does. */
const reads = { scope: 'mailbox:read', mailboxToken: true } as const;
const writes = { scope: 'mailbox:write', mailboxToken: true } as const;
const OF_TOKEN = ' The mailbox is that of the token.';

const uploaded = { 201: { description: 'The file.', schema: UploadedFile, example: fileExample } } as const;

const UPLOAD = {
  tag: 'Files',
  method: 'POST',
  summary: 'Upload a file',
  query: UploadQuery,
  takesFile: true,
  tokenNeeds: 'send',
  responses: uploaded,
} as const;
const UPLOAD_DESCRIPTION = `A file to attach by its id, \`{"attachments": [{"fileId": "fil_…"}]}\`, as often as you like within ${FILE_LIFE_HOURS} hours. The body is the file with its own Content-Type, or a form with one file. At most ${FILE_MAX_BYTES / MIB_BYTES} MiB; a message carries attachments of three quarters of that together, because base64 makes them longer. A mailbox has at most ${FILES_PER_MAILBOX_MAX} files of ${FILES_PER_MAILBOX_MAX_BYTES / MIB_BYTES} MiB together; they do not count against its quota. With an Idempotency-Key the content is compared too.`;

const NEW_UPLOAD = {
  tag: 'Files',
  method: 'POST',
  summary: 'Make an upload URL',
  body: NewUpload,
  bodyExample: newUploadExample,
  secretFields: ['url'],
  tokenNeeds: 'send',
  responses: { 201: { description: 'The URL, shown once.', schema: Upload, example: uploadExample } },
  errors: ['quota_exceeded'],
} as const;
const NEW_UPLOAD_DESCRIPTION = `For a program without a credential: it sends the bytes with one PUT within ${UPLOAD_URL_LIFE_MINUTES} minutes. The id of the file is known at once.`;

const LIST = {
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
} as const;
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
  route({
    ...LIST,
    path: '/api/mailboxes/:id/files',
    operationId: 'listMailboxFiles',
    withoutCall: { cli: ATTACHED_AT_ONCE },
    description: 'Files that were uploaded and can be attached.',
    auth: reads,
    params: MailboxPath,
    handler: (request) => answerFiles(request, request.params.id, request.query),
  }),
  route({
    ...UPLOAD,
    path: '/api/mailboxes/:id/files',
    operationId: 'uploadMailboxFile',
    description: UPLOAD_DESCRIPTION,
    auth: writes,
    params: MailboxPath,
    errors: ['not_found', 'quota_exceeded'],
    receive: (upload) =>
      receiveFile(inOrganization(upload), upload.params['id'] ?? '', upload.request, upload.query['filename']),
    handler: (request) => answerReceived(request, request.received),
  }),
  route({
    ...NEW_UPLOAD,
    path: '/api/mailboxes/:id/files/uploads',
    operationId: 'createMailboxUpload',
    withoutCall: { cli: ATTACHED_AT_ONCE },
    description: NEW_UPLOAD_DESCRIPTION,
    auth: writes,
    params: MailboxPath,
    errors: ['not_found', 'quota_exceeded'],
    handler: (request) => answerNewUpload(request, request.params.id, request.body, request.publicUrl),
  }),
  route({
    ...GET,
    path: '/api/mailboxes/:id/files/:fid',
    operationId: 'getMailboxFile',
    withoutCall: { cli: ATTACHED_AT_ONCE },
    auth: reads,
    params: MailboxFilePath,
    handler: (request) => answerFile(request, request.params.id, request.params.fid),
  }),
  route({
    ...DELETE,
    path: '/api/mailboxes/:id/files/:fid',
    operationId: 'deleteMailboxFile',
    withoutCall: { cli: ATTACHED_AT_ONCE },
    auth: writes,
    params: MailboxFilePath,
    handler: (request) => answerDelete(request, request.params.id, request.params.fid),
  }),
  route({
    ...LIST,
    path: '/api/mailbox/files',
    operationId: 'listFiles',
    withoutCall: { cli: ATTACHED_AT_ONCE, mcp: ATTACHED_IN_CONVERSATION },
    description: `Files that were uploaded and can be attached.${OF_TOKEN}`,
    auth: 'mailbox_token',
    handler: (request) => answerFiles(request, request.principal.id, request.query),
  }),
  route({
    ...UPLOAD,
    path: '/api/mailbox/files',
    operationId: 'uploadFile',
    description: UPLOAD_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    errors: ['quota_exceeded'],
    receive: (upload) =>
      receiveFile(
        inOrganization(upload),
        upload.principal.kind === 'mailbox' ? upload.principal.id : '',
        upload.request,
        upload.query['filename'],
      ),
    handler: (request) => answerReceived(request, request.received),
  }),
  route({
    ...NEW_UPLOAD,
    path: '/api/mailbox/files/uploads',
    operationId: 'createUpload',
    withoutCall: { cli: ATTACHED_AT_ONCE },
    description: NEW_UPLOAD_DESCRIPTION + OF_TOKEN,
    auth: 'mailbox_token',
    handler: (request) => answerNewUpload(request, request.principal.id, request.body, request.publicUrl),
  }),
  route({
    ...GET,
    path: '/api/mailbox/files/:fid',
    operationId: 'getFile',
    withoutCall: { cli: ATTACHED_AT_ONCE, mcp: ATTACHED_IN_CONVERSATION },
    auth: 'mailbox_token',
    params: OwnFilePath,
    handler: (request) => answerFile(request, request.principal.id, request.params.fid),
  }),
  route({
    ...DELETE,
    path: '/api/mailbox/files/:fid',
    operationId: 'deleteFile',
    withoutCall: { cli: ATTACHED_AT_ONCE, mcp: ATTACHED_IN_CONVERSATION },
    auth: 'mailbox_token',
    params: OwnFilePath,
    handler: (request) => answerDelete(request, request.principal.id, request.params.fid),
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
