/** Mailboxes that leave as files and come from them or from a server: begun here, carried out by a workflow. */
import { Readable } from 'node:stream';
import Type from 'typebox';
import { downloadName, downloadRange } from '#administration/moving/export-to-parts.ts';
import { requireMailbox } from '#administration/moving/find-mailbox.ts';
import {
  beginExport,
  beginImport,
  deleteMove,
  listMoves,
  receivePortion,
  requireMove,
  startMove,
} from '#administration/moving/moves.ts';
import { partsOf } from '#administration/moving/run-move.ts';
import { bodyBytes } from '#api/files/upload.ts';
import { byteRange } from '#api/http/byte-range.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, listBody, listOf, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { CatalogueError } from '#domain/errors.ts';
import {
  EXPORT_FORMATS,
  EXPORT_LIFE_HOURS,
  IMPORT_FILE_MAX_BYTES,
  IMPORT_FORMATS,
  IMPORT_PORTION_MAX_BYTES,
} from '#domain/mailbox-moves.ts';
import { Move, MovePath, moveExample, presentMove } from './move-schema.ts';

const tag = 'Operators';
const [MIB_BYTES, GIB_BYTES] = [1_048_576, 1_073_741_824];
const OF_OPERATOR = 'For the operator of the instance.';

const mailbox = Type.String({ minLength: 1, maxLength: 320, description: 'Id or address.' });
const now = { description: 'As it is now.', schema: Move, example: moveExample } as const;

/** A server and perhaps a port, nothing else. */
const isImapUrl = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    (url?.protocol === 'imaps:' || url?.protocol === 'imap:') &&
    url.hostname !== '' &&
    url.username === '' &&
    url.password === '' &&
    ['', '/'].includes(url.pathname) &&
    url.search === '' &&
    url.hash === ''
  );
};

export const operatorMoveRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/api/operator/exports',
    operationId: 'exportMailbox',
    tag,
    summary: 'Export a mailbox',
    description: `${OF_OPERATOR} As \`agent-mailbox-admin export\`. It goes on in the background and survives restarts; GET /api/operator/moves/:id shows how far it is. The file is encrypted in the database, can be downloaded for ${EXPORT_LIFE_HOURS} hours after its end, and goes earlier with an erasure of the mailbox, of its organization, or of any correspondent of the organization. One of the same mailbox and format that has not finished is answered with and goes on. The audit log of the organization has an entry.`,
    auth: 'instance',
    body: closed(
      {
        mailbox,
        format: Type.Optional(
          Type.Enum([...EXPORT_FORMATS], {
            description:
              'Default `archive`: our own tar file with all that is known of each message. `mbox`, `maildir`: a tar file with them.',
          }),
        ),
      },
      { title: 'ExportMailbox' },
    ),
    bodyExample: { mailbox: 'orders@agents.example.com', format: 'archive' },
    responses: { 202: now },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, caller, body }) {
      const account = await requireMailbox(services.db, body.mailbox);
      const { id } = await beginExport(services, account, body.format ?? 'archive', caller);
      return { status: 202, body: presentMove(await startMove(services, temporal, id)) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/operator/imports',
    operationId: 'importMail',
    tag,
    summary: 'Import mail into a mailbox',
    description: `${OF_OPERATOR} As \`agent-mailbox-admin import\`: no event is recorded, and nothing is imported twice. With \`imap\` it begins at once; from a file, send it in portions with PUT /api/operator/moves/:id/content, then POST …/start: an mbox file, our archive, or a tar file of a Maildir or of mbox files, not compressed, at most ${IMPORT_FILE_MAX_BYTES / GIB_BYTES} GiB. Hosts in private networks are refused unless IMPORT_PRIVATE_HOSTS is \`on\`. The audit log of the organization has an entry.`,
    auth: 'instance',
    body: closed(
      {
        mailbox,
        format: Type.Optional(Type.Enum([...IMPORT_FORMATS], { description: 'Of the file; default: found out.' })),
        imap: Type.Optional(
          closed(
            {
              url: Type.String({
                minLength: 1,
                maxLength: 512,
                description: '`imaps://host`, or `imap://host` with STARTTLS, which is needed.',
              }),
              user: Type.String({ minLength: 1, maxLength: 320 }),
              password: Type.String({
                minLength: 1,
                maxLength: 1_024,
                description: 'Sealed in the database, and deleted when the import has finished.',
              }),
            },
            { title: 'ImportServer' },
          ),
        ),
      },
      { title: 'ImportMail' },
    ),
    bodyExample: { mailbox: 'orders@agents.example.com' },
    responses: { 202: now },
    errors: ['not_found', 'conflict'],
    async handler({ services, temporal, caller, body }) {
      const { imap, format } = body;
      if (imap !== undefined && (format !== undefined || !isImapUrl(imap.url)))
        throw new CatalogueError('invalid_request', undefined, {
          details: [{ path: 'body/imap', message: 'takes imaps://host or imap://host, without user, path and format' }],
        });
      const account = await requireMailbox(services.db, body.mailbox);
      const row = await beginImport(services, account, { format: format ?? null, imap: imap ?? null }, caller);
      const begun = imap === undefined ? row : await startMove(services, temporal, row.id);
      return { status: 202, body: presentMove(begun) };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/operator/moves/:id/content',
    operationId: 'sendImport',
    tag,
    summary: 'Send a portion of the file of an import',
    description: `${OF_OPERATOR} The body is the next bytes of the file, at most ${IMPORT_PORTION_MAX_BYTES / MIB_BYTES} MiB; \`at\` is where they belong. After an interruption go on at \`sizeBytes\` of the import: bytes that arrived are kept, encrypted.`,
    auth: 'instance',
    params: MovePath,
    query: closed({
      at: Type.Integer({ minimum: 0, maximum: IMPORT_FILE_MAX_BYTES, description: 'Bytes that came before.' }),
    }),
    takesFile: true,
    bodyLimitBytes: IMPORT_PORTION_MAX_BYTES,
    responses: { 200: now },
    errors: ['conflict'],
    async receive({ services, request, params, query }) {
      const row = await receivePortion(services, params['id'] ?? '', Number(query['at']), bodyBytes(request));
      return { value: row, text: '' };
    },
    handler: async ({ received }) => ({ status: 200, body: presentMove(received) }),
  }),
  route({
    method: 'GET',
    path: '/api/operator/moves',
    operationId: 'listMoves',
    tag,
    summary: 'Exports and imports of mailboxes',
    description: OF_OPERATOR,
    auth: 'instance',
    query: PageQuery,
    responses: {
      200: {
        description: 'A page of them, newest first.',
        schema: listOf(Move, 'OperatorMoveList'),
        example: { data: [moveExample], nextCursor: null },
      },
    },
    async handler({ services, query }) {
      const page = pageOf('move', query);
      const rows = await listMoves(services.db, page, services.now());
      return { status: 200, body: listBody(rows, page, presentMove) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/operator/moves/:id',
    operationId: 'getMove',
    tag,
    summary: 'An export or import, and how far it is',
    description: OF_OPERATOR,
    auth: 'instance',
    params: MovePath,
    responses: { 200: now },
    async handler({ services, params }) {
      return { status: 200, body: presentMove(await requireMove(services.db, params.id, services.now())) };
    },
  }),
  route({
    method: 'POST',
    path: '/api/operator/moves/:id/start',
    operationId: 'startMove',
    tag,
    summary: 'Start an export or import again',
    description: `${OF_OPERATOR} It goes on where it was: after it failed, or when the engine was away as it was begun. Safe to repeat.`,
    auth: 'instance',
    params: MovePath,
    responses: { 202: now },
    errors: ['conflict'],
    async handler({ services, temporal, params }) {
      return { status: 202, body: presentMove(await startMove(services, temporal, params.id)) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/operator/moves/:id/content',
    operationId: 'downloadExport',
    tag,
    summary: 'Download a finished export',
    description: `${OF_OPERATOR} A tar file. An interrupted download goes on with a Range of bytes; the file never changes.`,
    auth: 'instance',
    params: MovePath,
    responses: {
      200: {
        description: 'The file.',
        contentType: 'application/x-tar',
        headers: { ETag: 'The same as long as the file is there.', 'Accept-Ranges': '`bytes`' },
      },
      206: {
        description: 'The range that was asked for.',
        contentType: 'application/x-tar',
        headers: { 'Content-Range': 'Which bytes, and how many there are.' },
      },
      416: { description: 'The range is behind the end.', headers: { 'Content-Range': 'How many bytes there are.' } },
    },
    errors: ['conflict'],
    async handler({ services, params, headers }) {
      const move = await requireMove(services.db, params.id, services.now());
      const { progress, sizeBytes: size } = move;
      if (move.direction !== 'export' || move.state !== 'finished' || progress === null)
        throw new CatalogueError('conflict', `${move.id} is no finished export.`, {
          fix: 'Wait until its state is `finished`.',
        });
      const etag = `"${move.id}"`;
      const ifRange = headers['if-range'];
      const range = byteRange(ifRange === undefined || ifRange === etag ? headers.range : undefined, size);
      if (range === 'unsatisfiable') return { status: 416, headers: { 'Content-Range': `bytes */${size}` } };
      const { from, to } = range ?? { from: 0, to: size };
      const body = Readable.from(downloadRange(progress, partsOf(services, move), from, to), { objectMode: false });
      const about = {
        'Content-Length': String(to - from),
        'Content-Disposition': `attachment; filename="${downloadName(progress)}"`,
        'Accept-Ranges': 'bytes',
        'Cache-Control': 'no-store',
        ETag: etag,
      };
      return range === undefined
        ? { status: 200, body, headers: about }
        : { status: 206, body, headers: { ...about, 'Content-Range': `bytes ${from}-${to - 1}/${size}` } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/operator/moves/:id',
    operationId: 'deleteMove',
    tag,
    summary: 'End an export or import, and delete its file',
    description: `${OF_OPERATOR} What was imported stays.`,
    auth: 'instance',
    params: MovePath,
    responses: { 204: { description: 'Deleted.' } },
    async handler({ services, params }) {
      await deleteMove(services.db, params.id);
      return { status: 204 };
    },
  }),
];
