/**
 * DKIM keys. The key that signs is in the row of its domain (`domains`, `dkim_key`); those before their use and those
 * after it are in `dkim_rotation`, whose states `dkim-rotation.ts` changes:
 *
 *   next ──DNS has it──▶ (signs) ──replaced by the next──▶ retiring ──a week──▶ retired ──DNS lacks it──▶ (deleted)
 */
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Sql } from '#db/database.ts';

const DKIM_BITS = 2_048;
const makeKeyPair = promisify(generateKeyPair);

/** What DNS publishes of a key. */
export interface DkimRecord {
  readonly selector: string;
  /** Base64 of the SubjectPublicKeyInfo. */
  readonly publicKey: string;
}

/** Public part: base64 of the SubjectPublicKeyInfo; private part: PEM. */
export async function makeDkimKey(): Promise<{ readonly publicKey: string; readonly privateKey: string }> {
  const { publicKey, privateKey } = await makeKeyPair('rsa', {
    modulusLength: DKIM_BITS,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey: publicKey.toString('base64'), privateKey };
}

/** Place of a key that does not sign yet (see `core/platform/secrets/sealed-secrets.ts`). */
export const dkimRotationPlace = (id: string): string => `dkim_rotation:private_key:${id}`;

/** `retiring`: it signs no more, and mail with its signatures may still be on its way. */
export type DkimRotationState = 'next' | 'retiring' | 'retired';

/** A key that does not sign. */
export interface OtherDkimKey extends DkimRecord {
  readonly id: string;
  readonly domain: string;
  /** Null: of the instance's own domain. */
  readonly domainId: string | null;
  readonly state: DkimRotationState;
  readonly createdAt: Date;
  /** When it ceased to sign; null: it has not begun. */
  readonly switchedAt: Date | null;
  /** When name servers were asked last. */
  readonly checkedAt: Date | null;
  /** What name servers said of it last, in words; null: they were not asked. */
  readonly dnsAnswer: string | null;
  readonly undisputedSince: Date | null;
}

const COLUMNS = `id, domain, domain_id as "domainId", selector, public_key as "publicKey", state, created_at as "createdAt",
  switched_at as "switchedAt", checked_at as "checkedAt", dns_answer as "dnsAnswer", undisputed_since as "undisputedSince"`;

/** Of all domains, the oldest first. */
export const allOtherDkimKeys = (sql: Sql): Promise<OtherDkimKey[]> =>
  sql.query<OtherDkimKey>(`select ${COLUMNS} from dkim_rotation order by created_at, id`);

/** Those whose records DNS must have beside that of the key that signs. @param domainId null: the instance's own */
export const publishedDkimKeys = (sql: Sql, domainId: string | null): Promise<OtherDkimKey[]> =>
  sql.query<OtherDkimKey>(
    `select ${COLUMNS} from dkim_rotation
      where domain_id is not distinct from $1 and state in ('next', 'retiring') order by created_at, id`,
    [domainId],
  );

/** The same for several domains of organizations, by the id of the domain. */
export async function publishedDkimKeysOf(
  sql: Sql,
  domainIds: readonly string[],
): Promise<ReadonlyMap<string | null, readonly OtherDkimKey[]>> {
  if (domainIds.length === 0) return new Map();
  const rows = await sql.query<OtherDkimKey>(
    `select ${COLUMNS} from dkim_rotation
      where domain_id = any($1::text[]) and state in ('next', 'retiring') order by created_at, id`,
    [domainIds],
  );
  return Map.groupBy(rows, ({ domainId }) => domainId);
}
