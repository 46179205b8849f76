/** Mailboxes that leave as files: begun here, written by a workflow, downloaded in any portions for some days. */
import { Readable } from 'node:stream';
import Type from 'typebox';
import { downloadName, downloadRange } from '#administration/moving/export-to-parts.ts';
import { requireMailbox } from '#administration/moving/find-mailbox.ts';
import { beginExport, deleteMove, listMoves, requireMove, startMove } from '#administration/moving/moves.ts';
import { partsOf } from '#administration/moving/run-move.ts';
import { byteRange } from '#api/http/byte-range.ts';
import { type Route, route } from '#api/http/route.ts';
import { closed, listBody, listOf, PageQuery, pageOf } from '#api/http/schema-parts.ts';
import { CatalogueError } from '#domain/errors.ts';
import { EXPORT_FORMATS, EXPORT_LIFE_HOURS } from '#domain/mailbox-moves.ts';
import { Move, MovePath, moveExample, presentMove } from './move-schema.ts';

const tag = 'Operators';
const OF_OPERATOR = 'For the operator of the instance.';

const mailbox = Type.String({ minLength: 1, maxLength: 320, description: 'Id or address.' });
const now = { description: 'As it is now.', schema: Move, example: moveExample } as const;

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
