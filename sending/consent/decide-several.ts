/**
 * Decides about several held messages that a person was shown together. Each is a decision of its own, for the hash of
 * what was shown: one that cannot be decided is left out with the reason, and keeps nobody from deciding the others.
 */
import type { Caller } from '#core/platform/caller.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { SendingServices } from '#sending/outbox/outbound-message.ts';
import { approveHeld } from './approve-held.ts';
import { type Decided, denyConsent } from './decide-consent.ts';
import type { ConsentRow } from './find-consents.ts';

/** A request whose whole message was shown. */
interface ShownRequest {
  readonly consentId: string;
  /** Hash of what was shown, in hexadecimal digits. */
  readonly sha256: string;
}

export interface SeveralDecided {
  readonly decided: readonly ConsentRow[];
  readonly leftOut: readonly { readonly consentId: string; readonly code: string; readonly message: string }[];
  /** Messages whose workflows must be signalled. */
  readonly messageIds: readonly string[];
}

/** The caller must check that the person may decide. @param reason of a denial; null: none is given */
export async function decideSeveral(
  services: SendingServices,
  organizationId: string,
  decision: 'approve' | 'deny',
  shown: readonly ShownRequest[],
  reason: string | null,
  caller: Caller,
): Promise<SeveralDecided> {
  const done: Decided[] = [];
  const leftOut: SeveralDecided['leftOut'][number][] = [];
  // In one order, so that two callers who name the same requests do not wait for each other.
  const inOrder = [...new Map(shown.map((each) => [each.consentId, each])).values()].sort((a, b) =>
    a.consentId < b.consentId ? -1 : 1,
  );
  for (const { consentId, sha256 } of inOrder) {
    try {
      done.push(
        decision === 'approve'
          ? await approveHeld(services, organizationId, consentId, { scope: 'message', sha256 }, caller)
          : await denyConsent(services, organizationId, consentId, reason, caller, { sha256 }),
      );
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      leftOut.push({ consentId, code: error.code, message: error.message });
    }
  }
  return {
    decided: done.map(({ consent }) => consent),
    leftOut,
    messageIds: done.flatMap(({ messageIds }) => messageIds),
  };
}
