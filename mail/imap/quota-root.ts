/** The one quota root of a mailbox (RFC 9208), named by the empty string. */
import type { Session } from './session.ts';

/** There is no limit on messages beside the number of UIDs. */
const MESSAGES_LIMIT = 0xffff_ffff;
const STORAGE_UNIT_BYTES = 1_024;

export async function quotaLine(session: Session): Promise<string> {
  const { usedBytes, limitBytes, messages } = await session.store.quota();
  const used = Math.ceil(usedBytes / STORAGE_UNIT_BYTES);
  const limit = Math.floor(limitBytes / STORAGE_UNIT_BYTES);
  return `* QUOTA "" (STORAGE ${used} ${limit} MESSAGE ${messages} ${MESSAGES_LIMIT})`;
}
