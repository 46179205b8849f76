/**
 * Which deliveries are claimed next: the oldest first. When that leaves a backlog, every other claim takes a few of each
 * organization instead. While an organization uses its whole share, all claims do, and pass over it.
 *
 * The answer of a claim can be lost with its connection. The next claim then asks first for what has its id.
 */
import type { ClaimBounds, FairClaim } from '#db/queries/deliveries/claim-deliveries.ts';

export interface OfOrganization {
  readonly organizationId: string;
}

/** Statements that take deliveries under an id, such as those of `db/queries/deliveries/claim-deliveries.ts`. */
export interface ClaimStatements<Row> {
  oldest(claimId: string, bounds: ClaimBounds): Promise<Row[]>;
  fairly(claimId: string, claim: FairClaim): Promise<Row[]>;
  /** Those that an earlier claim stamped with the id. */
  stampedWith(claimId: string): Promise<Row[]>;
  /** An id for a claim at this time, in milliseconds since 1970. */
  newId(nowMs: number): string;
}

export interface Claim<Row> {
  readonly claimId: string;
  readonly claimed: readonly Row[];
  /** There may be more that wait. */
  readonly mayBeMore: boolean;
}

export interface Claims<Row> {
  /** The last claim of the oldest had no room for all that waited. */
  readonly backlog: boolean;
  /** @throws errors of the database; the claim is then repeated by the next one */
  next(bounds: Omit<ClaimBounds, 'everything'>): Promise<Claim<Row>>;
}

/** Deliveries older than two days are looked for this often. */
const EVERYTHING_MS = 30_000;

/** @param excluded organizations to pass over now */
export function deliveryClaims<Row extends OfOrganization>(
  statements: ClaimStatements<Row>,
  excluded: () => string[],
): Claims<Row> {
  let backlog = false;
  let lastWasFair = false;
  /** Where the round over the organizations continues. */
  let fairAfter = '';
  /** A claim whose answer was lost. */
  let uncertainId: string | undefined;
  let lookedAtAllMs = 0;

  async function claimFairly(claimId: string, claim: Omit<FairClaim, 'after'>): Promise<Row[]> {
    const began = fairAfter === '';
    let claimed = await statements.fairly(claimId, { ...claim, after: fairAfter });
    // The end of the round: begin again immediately, because organizations before its start may have deliveries.
    if (claimed.length === 0 && !began) claimed = await statements.fairly(claimId, { ...claim, after: '' });
    fairAfter =
      claimed
        .map(({ organizationId }) => organizationId)
        .sort()
        .at(-1) ?? '';
    return claimed;
  }

  async function claim(claimId: string, bounds: ClaimBounds): Promise<Row[]> {
    const skipped = excluded();
    lastWasFair = skipped.length > 0 || (backlog && !lastWasFair);
    if (lastWasFair) return claimFairly(claimId, { ...bounds, excluded: skipped });
    const claimed = await statements.oldest(claimId, bounds);
    backlog = claimed.length === bounds.room;
    return claimed;
  }

  return {
    get backlog() {
      return backlog;
    },
    async next(bounds) {
      const { nowMs, room } = bounds;
      const everything = nowMs - lookedAtAllMs > EVERYTHING_MS;
      if (everything) lookedAtAllMs = nowMs;
      const repeated = uncertainId !== undefined;
      const claimId = uncertainId ?? statements.newId(nowMs);
      uncertainId = claimId;
      const claimed = await (repeated ? statements.stampedWith(claimId) : claim(claimId, { ...bounds, everything }));
      uncertainId = undefined;
      return { claimId, claimed, mayBeMore: claimed.length === room || lastWasFair || repeated };
    },
  };
}
