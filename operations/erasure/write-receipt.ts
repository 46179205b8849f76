import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Erased } from '#administration/erasure/erase.ts';
import { writeWhole } from '#core/platform/write-file.ts';

/** @returns the file */
export function writeReceipt(dataDir: string, given: string | undefined, { statement, receipt }: Erased): string {
  const file = given ?? path.join(dataDir, 'erasures', `${statement.id}.json`);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeWhole(file, `${receipt}\n`, 0o600);
  return file;
}
