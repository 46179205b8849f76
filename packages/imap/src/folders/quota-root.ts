/** The one quota root of a mailbox (RFC 9208), named by the empty string. */
import type { Session } from '#imap/session/session.ts';

const STORAGE_UNIT_BYTES = 1_024;

/** Bytes alone have a limit; a resource without one is left out (RFC 9208 §5.1). */
export async function quotaLine(session: Session): Promise<string> {
  const { usedBytes, limitBytes } = await session.store.quota();
  const used = Math.ceil(usedBytes / STORAGE_UNIT_BYTES);
  const limit = Math.floor(limitBytes / STORAGE_UNIT_BYTES);
  return `* QUOTA "" (STORAGE ${used} ${limit})`;
}
