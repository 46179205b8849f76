/**
 * `npm run check:mailstore`: checks the invariants of the mail store, running or stopped; exit code 1 if one is
 * violated.
 *
 * `--all` hashes and indexes every message instead of a sample. `--watch` polls during load instead, and fails if a UID
 * appears below one that was seen before. The database is DATABASE_URL, else that of the running service.
 */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Database, openDatabase } from '#db/database.ts';
import { checkMailStore } from '#mailstore/upkeep/invariants.ts';

const WATCH_INTERVAL_MS = 100;

function databaseUrl(): string {
  const given = process.env['DATABASE_URL'];
  if (given) return given;
  const file = path.join(process.env['DATA_DIR'] ?? '.data', 'service.json');
  try {
    const facts: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof facts === 'object' && facts !== null && 'databaseUrl' in facts && typeof facts.databaseUrl === 'string')
      return facts.databaseUrl;
  } catch {
    // Reported below.
  }
  throw new Error(`no database: set DATABASE_URL, or start the service (${file} does not exist)`);
}

async function check(db: Database, all: boolean): Promise<boolean> {
  let sound = true;
  for (const { rule, text, checked, atFault, examples } of await checkMailStore(db, { all })) {
    console.log(`${atFault === 0 ? '✔' : '✖'} ${rule.padStart(2)}  ${text}: ${checked} checked, ${atFault} at fault`);
    for (const example of examples) console.log(`        ${example}`);
    sound &&= atFault === 0;
  }
  return sound;
}

/** Each folder's highest UID only rises, and no UID appears below one that was already seen. */
async function watch(db: Database): Promise<boolean> {
  const seen = new Map<number, { highest: number; count: number }>();
  let stopped = false;
  process.once('SIGINT', () => {
    stopped = true;
  });
  console.log('watching; Ctrl-C ends');
  while (!stopped) {
    const folders = await db.query<{ folder_id: number; highest: number }>(
      `select folder_id, max(uid) as highest from placement group by folder_id`,
    );
    for (const { folder_id: id, highest } of folders) {
      const before = seen.get(id);
      if (before !== undefined) {
        const [row] = await db.query<{ count: number }>(
          `select count(*) as count from placement where folder_id = $1 and uid <= $2`,
          [id, before.highest],
        );
        if ((row?.count ?? 0) > before.count) {
          console.log(`✖ folder ${id}: a UID appeared at or below ${before.highest}`);
          return false;
        }
      }
      const [row] = await db.query<{ count: number }>(
        `select count(*) as count from placement where folder_id = $1 and uid <= $2`,
        [id, highest],
      );
      seen.set(id, { highest, count: row?.count ?? 0 });
    }
    await delay(WATCH_INTERVAL_MS);
  }
  return true;
}

const { values } = parseArgs({ options: { all: { type: 'boolean' }, watch: { type: 'boolean' } } });
const db = await openDatabase({ url: databaseUrl(), poolMax: 2 });
const sound = values.watch === true ? await watch(db) : await check(db, values.all === true);
await db.close();
process.exitCode = sound ? 0 : 1;
