/**
 * Receipts of erasures: what was erased, in numbers, without content. Signed by a key of the installation (Ed25519) that is
 * made of CREDENTIAL_PEPPER, so it needs no place of its own and is there again after a restore.
 */
import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import { CommandError } from '#operations/command.ts';
import type { KnownBackup } from './known-backups.ts';
import type { Counts } from './portions.ts';

export const ERASURE_KINDS = ['mailbox', 'organization', 'correspondent'] as const;
export type ErasureKind = (typeof ERASURE_KINDS)[number];

/** What was erased: ids, and of a correspondent the hash of the address. */
export interface ErasureSubject {
  /** Null: in all organizations. */
  readonly organizationId: string | null;
  readonly mailboxId?: string;
  /** HMAC-SHA256 of the address with a key of the installation, hexadecimal. */
  readonly addressHash?: string;
}

export interface ErasureStatement {
  readonly format: 'agent-mailbox-erasure';
  readonly formatVersion: 1;
  readonly id: string;
  readonly kind: ErasureKind;
  readonly subject: ErasureSubject;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly productVersion: string;
  /** Rows by table; of `audit_entries` and `suppression` those that were cleared. */
  readonly counts: Counts;
  readonly workflows: { readonly signalled: number; readonly left: string | null };
  /** That were made before the end; null: nobody looked. */
  readonly backups: readonly KnownBackup[] | null;
}

export interface Receipt {
  /** The statement as JSON: the text that is signed. */
  readonly statement: string;
  /** SPKI, PEM. */
  readonly publicKey: string;
  /** Ed25519 over the UTF-8 bytes of the statement, base64. */
  readonly signature: string;
}

/** PKCS #8 of an Ed25519 key, before its 32 bytes (RFC 8410). */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const KEY_BYTES = 32;

const derived = (pepper: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', pepper, '', `agent-mailbox erasure ${purpose}`, KEY_BYTES));

const signingKey = (pepper: Uint8Array): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([ED25519_PKCS8, derived(pepper, 'receipts')]),
    format: 'der',
    type: 'pkcs8',
  });

const publicKeyOf = (key: KeyObject): string => createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();

/** @param address in lower case */
export const addressHash = (pepper: Uint8Array, address: string): string =>
  createHmac('sha256', derived(pepper, 'addresses')).update(address).digest('hex');

/** @returns the text of the receipt */
export function signReceipt(pepper: Uint8Array, statement: ErasureStatement): string {
  const key = signingKey(pepper);
  const text = JSON.stringify(statement);
  const receipt: Receipt = {
    statement: text,
    publicKey: publicKeyOf(key),
    signature: sign(null, Buffer.from(text), key).toString('base64'),
  };
  return JSON.stringify(receipt, null, 2);
}

export interface CheckedReceipt {
  readonly statement: ErasureStatement;
  /** `own`: signed by this installation; `other`: by another one, or with another CREDENTIAL_PEPPER; `broken`: changed since. */
  readonly signed: 'own' | 'other' | 'broken';
}

/** @throws {CommandError} if it is no receipt */
export function checkReceipt(pepper: Uint8Array, text: string): CheckedReceipt {
  const wrong = new CommandError('this is no receipt of an erasure');
  const receipt = parsed(text);
  const { statement: signed, publicKey, signature } = receipt ?? {};
  if (typeof signed !== 'string' || typeof publicKey !== 'string' || typeof signature !== 'string') throw wrong;
  const statement = parsed(signed);
  if (statement?.['format'] !== 'agent-mailbox-erasure') throw wrong;
  // The signature says that `signReceipt` made it.
  const shown = statement as unknown as ErasureStatement;
  if (!isSignedBy(publicKey, signed, signature)) return { statement: shown, signed: 'broken' };
  return { statement: shown, signed: publicKey === publicKeyOf(signingKey(pepper)) ? 'own' : 'other' };
}

function isSignedBy(publicKey: string, text: string, signature: string): boolean {
  try {
    return verify(null, Buffer.from(text), createPublicKey(publicKey), Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
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
