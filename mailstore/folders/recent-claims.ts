/**
 * Claims of \Recent, for all sessions of this process together. When messages arrive, every session of their folder
 * claims them, and all but one in vain: only the first claim becomes a statement, the others wait for it.
 */

export interface RecentClaim {
  readonly mailboxId: string;
  readonly folderId: number;
  readonly uidValidity: number;
  /** Messages below this UID are claimed. */
  readonly below: number;
}

/** Folders whose claims are remembered. A forgotten one costs a statement, never a message. */
const REMEMBERED_MAX = 10_000;

/** What a claim is answered when others have claimed all messages. */
export const NOTHING_RECENT = Number.MAX_SAFE_INTEGER;

/** @returns a function that claims by `work`, or answers `NOTHING_RECENT` if this process knows that nothing is left */
export function recentClaims(): (claim: RecentClaim, work: () => Promise<number>) => Promise<number> {
  /** All messages below are claimed; the folder claimed last is at the end. */
  const claimedBelow = new Map<string, number>();
  const running = new Map<string, Promise<number>>();

  async function claimNow(key: string, below: number, work: () => Promise<number>): Promise<number> {
    const from = await work();
    const known = Math.max(below, claimedBelow.get(key) ?? 0);
    claimedBelow.delete(key);
    claimedBelow.set(key, known);
    const [oldest] = claimedBelow.size > REMEMBERED_MAX ? claimedBelow.keys() : [];
    if (oldest !== undefined) claimedBelow.delete(oldest);
    return from;
  }

  return async ({ mailboxId, folderId, uidValidity, below }, work) => {
    const key = `${mailboxId} ${folderId} ${uidValidity}`;
    for (;;) {
      if ((claimedBelow.get(key) ?? 0) >= below) return NOTHING_RECENT;
      const other = running.get(key);
      if (other === undefined) break;
      await other.catch(() => undefined); // its own caller handles the failure
    }
    const claimed = claimNow(key, below, work).finally(() => running.delete(key));
    running.set(key, claimed);
    return claimed;
  };
}
