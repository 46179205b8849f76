/** Receipts of erasures, from files. */
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type CheckedReceipt, checkReceipt } from '#administration/erasure/receipt.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { CommandError } from '#operations/command.ts';

/** @throws {CommandError} if it is no receipt */
export function requireReceipt(pepper: Uint8Array, text: string): CheckedReceipt {
  const checked = checkReceipt(pepper, text);
  if (checked === undefined) throw new CommandError('this is no receipt of an erasure');
  return checked;
}

export interface ReceiptFile {
  readonly file: string;
  readonly text: string;
}

const RECEIPT_MAX_BYTES = 1_048_576;

/** A receipt, or all of a folder. @throws {CommandError} if it cannot be read */
export async function readReceipts(given: string): Promise<ReceiptFile[]> {
  try {
    const files = (await stat(given)).isDirectory()
      ? (await readdir(given)).filter((name) => name.endsWith('.json')).map((name) => path.join(given, name))
      : [given];
    const read: ReceiptFile[] = [];
    for (const file of files.toSorted()) {
      if ((await stat(file)).size > RECEIPT_MAX_BYTES) throw new CommandError(`${file} is no receipt: it is too large`);
      read.push({ file, text: await readFile(file, 'utf8') });
    }
    return read;
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(`${given} cannot be read: ${reasonOf(error)}`);
  }
}
