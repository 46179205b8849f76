/**
 * Receipts of erasures: what was erased, in numbers, without content. Signed by a key of the installation (Ed25519) that is
 * made of CREDENTIAL_PEPPER, so it needs no place of its own and is there again after a restore.
 */
import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign, verify } from 'node:crypto';
import type { Counts } from './portions.ts';

/** A backup that was made before the end of an erasure, and so may contain what was erased. */
export interface KnownBackup {
  readonly id: string;
  readonly takenAt: string;
  /** As it was named. */
  readonly folder: string;
}

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

/** Undefined: it is no receipt. */
export function checkReceipt(pepper: Uint8Array, text: string): CheckedReceipt | undefined {
  const receipt = parsed(text);
  const { statement: signed, publicKey, signature } = receipt ?? {};
  if (typeof signed !== 'string' || typeof publicKey !== 'string' || typeof signature !== 'string') return undefined;
  const statement = parsed(signed);
  if (statement?.['format'] !== 'agent-mailbox-erasure') return undefined;
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
