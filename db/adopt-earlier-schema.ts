/**
 * Databases of the time before the first release. The migrations of then were replaced by one for each subject: in a
 * database that has all of the earlier ones, today's are recorded as applied. One column was left out, see `ONE_MARK`.
 */
import type { Database } from './database.ts';
import { migrations } from './migrations/index.ts';

/** Numbers of the replaced migrations, by day. */
const EARLIER: readonly number[] = [
  ...numbers(20261121, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]),
  ...numbers(20261122, [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 22, 23, 24]),
];
/** The last migration that replaced them. */
const REPLACED_UP_TO = 'Migration20261122000110_organization_changes';

function numbers(day: number, ofDay: readonly number[]): number[] {
  return ofDay.map((number) => day * 1_000_000 + number);
}

/** `message.read_again` said a second time what `text_status` says: that the current reader has not read the message. */
const ONE_MARK = [
  `update message set text_status = 'due' where read_again`,
  `alter table message drop column read_again`,
];

/** A database in a state from which no migration leads to this version. */
export class UnknownSchemaError extends Error {
  override readonly name = 'UnknownSchemaError';
}

/**
 * Does nothing in a new database, and in one that was adopted already.
 *
 * @throws {UnknownSchemaError} if only some of the earlier migrations ran; nothing is changed then
 */
export async function adoptEarlierSchema(db: Database): Promise<void> {
  const [table] = await db.query<{ there: boolean }>(`select to_regclass('migrations') is not null as there`);
  if (table?.there !== true) return;
  await db.transaction(async (sql) => {
    const rows = await sql.query<{ number: number }>(
      `select substring(name from '\\d{14}')::bigint as number from migrations where name ~ '^Migration\\d{14}'`,
    );
    const applied = new Set(rows.map(({ number }) => number));
    const missing = EARLIER.filter((number) => !applied.has(number));
    if (missing.length === EARLIER.length) return;
    if (missing.length > 0)
      throw new UnknownSchemaError(
        `The database has ${EARLIER.length - missing.length} of the ${EARLIER.length} migrations that this version ` +
          `replaced; Migration${missing[0]} is the first it lacks. Run \`npm run migrate\` of the last version that had ` +
          'them, then this one. Without data to keep, begin with an empty database instead; `npm start` creates one ' +
          'when its data folder (.data) is deleted.',
      );
    for (const statement of ONE_MARK) await sql.query(statement);
    await sql.query(`delete from migrations where substring(name from '\\d{14}')::bigint = any($1::bigint[])`, [
      EARLIER,
    ]);
    await sql.query(`insert into migrations (name) select unnest($1::text[])`, [
      migrations.map(({ name }) => name).filter((name) => name <= REPLACED_UP_TO),
    ]);
  });
}
