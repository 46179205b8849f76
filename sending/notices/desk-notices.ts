/**
 * Finds members to whom a digest is due, or a notice about held incoming mail, and writes it: in one transaction with the
 * time of the next one, so that each is written once, whatever process ends in between. Nothing of this is in the path of
 * arriving mail, so a sender causes no more than one notice in some minutes.
 */
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import { newId } from '#core/platform/new-id.ts';
import type { Services } from '#core/platform/process/services.ts';
import { type SharedTurns, startSharedTurns } from '#core/platform/process/shared-turns.ts';
import type { Sql } from '#db/database.ts';
import {
  type DeskSettings,
  type DueDigest,
  membersWithoutDesk,
  recordDigest,
  recordIncoming,
  setDigestAt,
  takeDueDigests,
  takeDueIncoming,
} from '#db/queries/notices/desk-notices.ts';
import { insertMemberNotices } from '#db/queries/notices/member-notices.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import {
  DESK_NOTICES_EVERY_MS,
  type DeskNoticeKind,
  DIGEST_DEFAULT,
  INCOMING_MAIL_DEFAULT,
  INCOMING_NOTICE_EVERY_MS,
  INCOMING_NOTICES_PER_DAY,
  INCOMING_SETTLED_MS,
  nextDigestMs,
  quietUntilMs,
} from '#domain/sending/desk-notices.ts';

const PORTION = 100;
const DAY_MS = 86_400_000;

type DeskServices = Pick<Services, 'db' | 'now'>;

/** One process of an installation looks at a time. @param start sends notices that are written */
export const startDeskNotices = (
  services: Pick<Services, 'db' | 'log' | 'now'>,
  start: (notices: readonly NewMemberNotice[]) => Promise<void>,
): SharedTurns =>
  startSharedTurns(services, {
    name: 'desk notices',
    everyMs: DESK_NOTICES_EVERY_MS,
    async work(stopping) {
      await writeDeskNotices(services, start, stopping);
    },
  });

/** Writes all that are due now. */
export async function writeDeskNotices(
  services: DeskServices,
  start: (notices: readonly NewMemberNotice[]) => Promise<void>,
  stopping?: AbortSignal,
): Promise<void> {
  const stopped = () => stopping?.aborted === true;
  while (!stopped() && (await addMembers(services)) === PORTION);
  for (let more = true; more && !stopped(); ) {
    const { taken, notices } = await writeDigests(services);
    await start(notices);
    more = taken === PORTION;
  }
  for (let after: string | undefined = ''; after !== undefined && !stopped(); ) {
    const written: IncomingPortion = await writeIncoming(services, after);
    await start(written.notices);
    after = written.next;
  }
}

/** @returns how many members got their row */
async function addMembers({ db, now }: DeskServices): Promise<number> {
  const nowMs = now();
  const members = await membersWithoutDesk(db, PORTION);
  for (const member of members) {
    const next = nextDigestMs(member.digest ?? DIGEST_DEFAULT, nowMs, null);
    await setDigestAt(db, member, new Date(next), new Date(nowMs));
  }
  return members.length;
}

async function write(sql: Sql, kind: DeskNoticeKind, member: DeskSettings, nowMs: number): Promise<NewMemberNotice> {
  const { organizationId, memberId, email } = member;
  const notice = { id: newId('notice', nowMs), organizationId, kind, targetId: memberId, recipient: email };
  const subject = kind === 'held_mail' ? 'Held incoming mail' : 'Digest';
  await insertMemberNotices(sql, [{ ...notice, subject, text: '' }], new Date(nowMs));
  return notice;
}

/** Who chose no digest gets one only while incoming mail waits. */
function isWorthADigest({ digest, incoming, incomingWaits, outgoingWaits }: DueDigest): boolean {
  const shows = (incoming ?? INCOMING_MAIL_DEFAULT) !== 'none' && incomingWaits;
  return digest === null ? shows && incoming !== 'at_once' : shows || outgoingWaits;
}

const writeDigests = ({ db, now }: DeskServices): Promise<{ taken: number; notices: readonly NewMemberNotice[] }> =>
  db.transaction(async (sql) => {
    const nowMs = now();
    const due = await takeDueDigests(sql, new Date(nowMs), PORTION);
    const notices: NewMemberNotice[] = [];
    for (const member of due) {
      const { memberId, digestAt } = member;
      const next = nextDigestMs(member.digest ?? DIGEST_DEFAULT, nowMs, digestAt.getTime());
      await recordDigest(sql, memberId, { due: digestAt, next: new Date(next) });
      if (isWorthADigest(member)) notices.push(await write(sql, 'desk_digest', member, nowMs));
    }
    return { taken: due.length, notices };
  });

interface IncomingPortion {
  readonly notices: readonly NewMemberNotice[];
  /** After which member it goes on; undefined: these were the last. */
  readonly next: string | undefined;
}

const writeIncoming = ({ db, now }: DeskServices, after: string): Promise<IncomingPortion> =>
  db.transaction(async (sql) => {
    const nowMs = now();
    const notifiedBefore = new Date(nowMs - INCOMING_NOTICE_EVERY_MS);
    const arrivedUntil = new Date(nowMs - INCOMING_SETTLED_MS);
    const members = await takeDueIncoming(sql, { notifiedBefore, arrivedUntil }, after, PORTION);
    const notices: NewMemberNotice[] = [];
    for (const member of members) {
      if (quietUntilMs(member.quietHours, nowMs) !== undefined) continue;
      const { used } = await countUse(sql, `incoming_notices:${member.memberId}`, DAY_MS, nowMs);
      if (used > INCOMING_NOTICES_PER_DAY) continue;
      await recordIncoming(sql, member.memberId, arrivedUntil, new Date(nowMs));
      notices.push(await write(sql, 'held_mail', member, nowMs));
    }
    return { notices, next: members.length === PORTION ? members.at(-1)?.memberId : undefined };
  });
