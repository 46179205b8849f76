/** An export or import of a mailbox, as operators see it. */
import Type, { type Static } from 'typebox';
import type { MoveRow } from '#administration/moving/moves.ts';
import { closed, dateTime, nullable, timeOf } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import { IMPORT_FORMATS, IMPORT_PROBLEMS_NAMED_MAX, MOVE_DIRECTIONS, MOVE_STATES } from '#domain/mailbox-moves.ts';

export const MoveId = Type.String({ pattern: idPattern('move') });
export const MovePath = closed({ id: MoveId });

export const Move = closed(
  {
    id: MoveId,
    direction: Type.Enum([...MOVE_DIRECTIONS]),
    organizationId: Type.String(),
    mailboxId: Type.String(),
    format: nullable(
      Type.Enum([...IMPORT_FORMATS], { description: 'Of an import null: found out, or none, from a server.' }),
    ),
    state: Type.Enum([...MOVE_STATES], {
      description:
        '`receiving`: the file of an import is sent. `failed`: `problem` says why; after that is mended, start it again.',
    }),
    messages: Type.Integer({ minimum: 0, description: 'Written or imported so far.' }),
    sizeBytes: Type.Number({ minimum: 0, description: 'Of the file, so far.' }),
    problem: nullable(Type.String()),
    report: nullable(
      closed(
        {
          imported: Type.Integer({ minimum: 0 }),
          known: Type.Integer({ minimum: 0, description: 'Were imported before, or twice in the source.' }),
          problemCount: Type.Integer({ minimum: 0 }),
          problems: Type.Array(
            closed({ where: Type.String(), problem: Type.String() }, { title: 'OperatorImportProblem' }),
            {
              description: `What was not imported, or not as it was, with its place; the first ${IMPORT_PROBLEMS_NAMED_MAX}.`,
            },
          ),
        },
        { title: 'OperatorImportReport' },
      ),
    ),
    createdAt: dateTime(),
    finishedAt: nullable(dateTime()),
    expiresAt: dateTime('It is deleted at this time, with its file.'),
  },
  { title: 'OperatorMove', description: 'An export or import of a mailbox.' },
);

export const moveExample = {
  id: 'mov_01k8e8f2c0e4x9w2v7a3r5t6y8',
  direction: 'export',
  organizationId: 'org_01k8e8f2c0e4x9w2v7a3r5t6y8',
  mailboxId: 'mbx_01k8e8f2c0e4x9w2v7a3r5t6y8',
  format: 'archive',
  state: 'finished',
  messages: 412,
  sizeBytes: 31_457_280,
  problem: null,
  report: null,
  createdAt: '2026-11-28T09:15:00.000Z',
  finishedAt: '2026-11-28T09:16:10.000Z',
  expiresAt: '2026-11-30T09:16:10.000Z',
} as const;

export const presentMove = (row: MoveRow): Static<typeof Move> => ({
  id: row.id,
  direction: row.direction,
  organizationId: row.organizationId,
  mailboxId: row.mailboxId,
  format: IMPORT_FORMATS.find((format) => format === row.format) ?? null,
  state: row.state,
  messages: row.messages,
  sizeBytes: row.sizeBytes,
  problem: row.problem,
  report:
    row.report === null
      ? null
      : {
          imported: row.report.imported,
          known: row.report.known,
          problemCount: row.report.problemCount,
          problems: [...row.report.problems],
        },
  createdAt: row.createdAt.toISOString(),
  finishedAt: timeOf(row.finishedAt),
  expiresAt: row.expiresAt.toISOString(),
});
