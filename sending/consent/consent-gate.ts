/**
 * The check by the workflow of a message that may not be sent yet: waiting for consent, decided, expired, or scheduled.
 * The rows decide; the workflow's timer and signal only trigger the check.
 *
 *   held ──approved──▶ due? ──yes──▶ sending
 *                             └─no─▶ scheduled ──its time──▶ sending
 *
 * While sending is stopped, a message that could be sent is `scheduled`, without a time.
 */

import { recordEvents } from '#core/events/record-event.ts';
import { isStopped, shareBrakes } from '#core/mailboxes/sending-brakes.ts';
import { countReleased } from '#core/mailboxes/sending-budgets.ts';
import type { NewMemberNotice } from '#core/organizations/member-notices.ts';
import type { Sql } from '#db/database.ts';
import type { ConsentScope, ConsentStatus } from '#domain/sending/consent.ts';
import { OUTBOUND_OVERDUE_MS } from '#domain/sending/outbound.ts';
import type { GateResult } from '#domain/sending/outbound-workflow.ts';
import { STOPPED_LOOK_AGAIN_MS } from '#domain/sending/sending-brakes.ts';
import { readSafely } from '#mailstore/reading/read-safely.ts';
import { hashContent } from '#mime/content-hash.ts';
import { askLists } from '#sending/lists/sender-lists.ts';
import { SenderRefused } from '#sending/local-delivery/deliver-here.ts';
import { afterCommit, release } from '#sending/local-delivery/release-message.ts';
import { earlierCopy } from '#sending/outbox/find-submitted.ts';
import { outsideOf } from '#sending/outbox/local-addresses.ts';
import { blockedEvent, type OutboundBlockedReason } from '#sending/outbox/outbound-events.ts';
import {
  changeRecipients,
  findOutbound,
  findRecipients,
  findSender,
  lockOutbound,
  type OutboundMessage,
  type OutboundRecipient,
  readContent,
  type Sender,
  type SendingServices,
} from '#sending/outbox/outbound-message.ts';
import { escalateInTime, noticesToStart, remindInTime } from './approval-notices.ts';
import { denyByService } from './decide-consent.ts';
import { threadKnown } from './earned-reply.ts';

interface ConsentRow {
  readonly status: ConsentStatus;
  readonly scope: ConsentScope | null;
  readonly recipients: readonly string[];
  readonly contentHash: Buffer;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly remindedAt: Date | null;
  readonly escalatedAt: Date | null;
  readonly undoUntil: Date | null;
}

/** Starts notices that are written. */
export type StartNotices = (notices: readonly NewMemberNotice[]) => Promise<void>;

/** @param startNotices optional; otherwise the sweep of notices starts them */
export async function passConsentGate(
  services: SendingServices,
  messageId: string,
  startNotices: StartNotices = async () => {},
): Promise<GateResult> {
  const { db } = services;
  const message = await findOutbound(db, messageId);
  if (message === undefined) return { kind: 'ended' };
  if (message.state !== 'held' && message.state !== 'scheduled')
    return { kind: message.state === 'sending' ? 'released' : 'ended' };
  // Written before the consent is read: a decision makes the message due sooner, which must not be overwritten.
  await db.query(WAIT_FOR_EXPIRY, [messageId, OUTBOUND_OVERDUE_MS / 1_000]);
  const consent = await findConsent(db, message);
  const sender = await findSender(db, message.mailboxId, 'any');
  if (sender === undefined) return { kind: 'ended' };
  if (message.state === 'scheduled' && message.consentId === null)
    return releaseInTime(services, sender, message, undefined);
  if (consent === undefined) {
    await refuseRelease(services, sender, message, 'content_changed');
    return { kind: 'ended' };
  }
  switch (consent.status) {
    case 'pending': {
      // Nobody could decide while the organization was suspended; its end moves the expiry.
      const late = consent.expiresAt.getTime() <= services.now() && !sender.isSuspended;
      const denial = sender.status === 'deleting' ? 'mailbox deleted' : late ? 'expired' : undefined;
      if (denial === undefined) return notifyAndWait(services, message, consent, startNotices, sender.isSuspended);
      // Decided at this moment: the next check reads the decision.
      if (!(await denyByService(services, message.consentId ?? '', denial)))
        return passConsentGate(services, messageId, startNotices);
      if (denial === 'expired') await startNotices(await noticesToStart(db, message.consentId ?? ''));
      return { kind: 'ended' };
    }
    case 'denied':
      return { kind: 'ended' };
    case 'approved':
      return releaseInTime(services, sender, message, consent);
  }
}

/** Members are notified of what is held, all of them if those responsible do not decide, and reminded a day before it expires. */
async function notifyAndWait(
  services: SendingServices,
  { organizationId, consentId, subject }: OutboundMessage,
  { createdAt, expiresAt, remindedAt, escalatedAt }: ConsentRow,
  startNotices: StartNotices,
  isSuspended: boolean,
): Promise<GateResult> {
  const request = {
    organizationId,
    consentId: consentId ?? '',
    subject,
    createdAt,
    expiresAt,
    remindedAt,
    escalatedAt,
  };
  const dueMs = [
    await remindInTime(services.db, request, services.now()),
    await escalateInTime(services.db, request, services.now()),
  ].filter((atMs) => atMs !== undefined);
  const remindAtMs = dueMs.length === 0 ? undefined : Math.min(...dueMs);
  await startNotices(await noticesToStart(services.db, request.consentId));
  return {
    kind: 'held',
    expiresAtMs: Math.max(expiresAt.getTime(), isSuspended ? services.now() + STOPPED_LOOK_AGAIN_MS : 0),
    ...(remindAtMs === undefined ? {} : { remindAtMs }),
  };
}

const WAIT_FOR_EXPIRY = `
  update outbound_message o set due_at = greatest(c.expires_at, now()) + make_interval(secs => $2)
    from consent c where o.id = $1 and o.state = 'held' and c.id = o.consent_id`;

async function findConsent(sql: Sql, { consentId }: OutboundMessage): Promise<ConsentRow | undefined> {
  const [row] = await sql.query<ConsentRow>(
    `select status, scope, recipients, content_hash as "contentHash", expires_at as "expiresAt",
            created_at as "createdAt", reminded_at as "remindedAt", escalated_at as "escalatedAt", undo_until as "undoUntil" from consent where id = $1`,
    [consentId],
  );
  return row;
}

async function releaseInTime(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  consent: ConsentRow | undefined,
): Promise<GateResult> {
  // An approval that can be taken back is a time to wait for, like `sendAt`.
  const dueMs = Math.max(message.sendAt?.getTime() ?? 0, consent?.undoUntil?.getTime() ?? 0);
  const isDue = dueMs <= services.now();
  if (isDue || sender.status === 'deleting') return releaseWaiting(services, sender, message, consent);
  const looked = await services.db.transaction(async (sql) => {
    const locked = await lockOutbound(sql, message.id);
    if (locked?.state !== 'held' && locked?.state !== 'scheduled') return 'ended';
    if (await isTakenBack(sql, message)) return 'taken_back';
    await sql.query(`update outbound_message set state = 'scheduled', due_at = $2 where id = $1`, [
      message.id,
      new Date(dueMs + OUTBOUND_OVERDUE_MS),
    ]);
    return 'waits';
  });
  if (looked === 'taken_back') return passConsentGate(services, message.id);
  return looked === 'ended' ? { kind: 'ended' } : { kind: 'scheduled', sendAtMs: dueMs };
}

/** The approval was taken back since it was read. With the message locked this does not change any more. */
const isTakenBack = async (sql: Sql, message: OutboundMessage): Promise<boolean> =>
  message.consentId !== null && (await findConsent(sql, message))?.status !== 'approved';

/** Releases exactly what was approved or submitted, once; a message that cannot be released any more is ended. */
async function releaseWaiting(
  services: SendingServices,
  sender: Sender,
  held: OutboundMessage,
  consent: ConsentRow | undefined,
): Promise<GateResult> {
  const refused = async (reason: OutboundBlockedReason): Promise<GateResult> => {
    await refuseRelease(services, sender, held, reason);
    return { kind: 'ended' };
  };
  if (sender.status !== 'active') return refused('mailbox_not_active');
  const bytes = await readContent(services.db, held);
  const read = await readSafely(services.db, bytes, { source: held.mailboxId });
  try {
    const released = await services.db.transaction(async (sql) => {
      await shareBrakes(sql, held.organizationId);
      const message = await lockOutbound(sql, held.id);
      if (message?.state !== 'held' && message?.state !== 'scheduled') return undefined;
      if (await isTakenBack(sql, message)) return 'edited';
      // A person edited it since the first read: the data in memory is that of the old message.
      if (!isSameBlob(message.blob, held.blob)) return 'edited';
      if (await isStopped(sql, held)) return waitForStop(sql, held.id, services.now());
      const recipients = await findRecipients(sql, message.id);
      const hash = hashContent(
        bytes,
        recipients.map(({ address }) => address),
      );
      if (!hash.equals(consent?.contentHash ?? message.contentHash)) return 'changed';
      // A held message is not counted yet.
      if (message.consentId !== null)
        await countReleased(sql, {
          organizationId: message.organizationId,
          mailboxId: message.mailboxId,
          outside: await outsideOf(services, sender, recipients),
          now: new Date(services.now()),
        });
      const blocked = await refuseBlockedHere(sql, services, sender, message, recipients);
      const done = await release(sql, services, sender, await withFiledCopy(sql, message), { bytes, read }, null);
      if (consent?.scope === 'message' && done.threadId !== null)
        await sql.query(REMEMBER_THREAD, [
          message.organizationId,
          consent.recipients.map((address) => threadKnown(done.threadId ?? '', address)),
          message.consentId,
        ]);
      return { ...done, owed: done.owed + blocked };
    });
    if (released === 'edited') return await passConsentGate(services, held.id);
    if (released === 'changed') return await refused('content_changed');
    // Withdrawn, or released by another run, at this moment: the rows say which.
    if (released === undefined) return await passConsentGate(services, held.id);
    if ('kind' in released) return released;
    afterCommit(services, released);
    return { kind: 'released' };
  } catch (error) {
    if (!(error instanceof SenderRefused)) throw error;
    return refused(error.kind === 'over-quota' ? 'quota_exceeded' : 'mailbox_not_active');
  }
}

async function waitForStop(sql: Sql, messageId: string, nowMs: number): Promise<GateResult> {
  const sendAtMs = nowMs + STOPPED_LOOK_AGAIN_MS;
  await sql.query(
    `update outbound_message set state = 'scheduled', stopped_at = coalesce(stopped_at, $2), due_at = $3 where id = $1`,
    [messageId, new Date(nowMs), new Date(sendAtMs + OUTBOUND_OVERDUE_MS)],
  );
  return { kind: 'scheduled', sendAtMs, stopped: true };
}

/** Recipients here that were put on a block list while the message was held; the others are checked before attempts. */
async function refuseBlockedHere(
  sql: Sql,
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  recipients: readonly OutboundRecipient[],
): Promise<number> {
  const here = recipients.filter(({ local }) => local);
  const verdicts = await askLists(sql, {
    organizationId: message.organizationId,
    mailboxId: message.mailboxId,
    direction: 'outbound',
    addresses: here.map(({ address }) => address),
  });
  const blocked = here.filter(({ address }) => verdicts.get(address.toLowerCase())?.action === 'block');
  if (blocked.length === 0) return 0;
  const now = new Date(services.now());
  const reason = 'blocked_recipient';
  await changeRecipients(
    sql,
    message.id,
    blocked.map(({ number }) => ({ number, status: 'denied', reply: reason, code: '5.7.1' })),
    now,
  );
  const rule = verdicts.get(blocked[0]?.address.toLowerCase() ?? '')?.value ?? null;
  const refused = { recipients: blocked.map(({ address }) => address), reason, rule } as const;
  return recordEvents(sql, [blockedEvent(sender, message, refused, now)]);
}

const isSameBlob = (a: Buffer | null, b: Buffer | null): boolean =>
  a === b || (a !== null && b !== null && a.equals(b));

/** A mail client may have filed its copy while the message was held: then no second copy is filed. */
async function withFiledCopy(sql: Sql, message: OutboundMessage): Promise<OutboundMessage> {
  // The client's copy is the submitted message, not the edited one.
  if (message.filed || message.edited) return message;
  const copy = await earlierCopy(sql, message.mailboxId, message.messageIdHeader, message.submittedAt);
  return copy === undefined ? message : { ...message, filed: true, threadId: copy.threadId };
}

const REMEMBER_THREAD = `
  insert into known_recipient (organization_id, kind, value, source, consent_id)
  select $1, 'thread', value, 'approved', $3 from unnest($2::text[]) as value order by value
  on conflict do nothing`;

/** Ends a held message that cannot be released, whatever was decided. */
async function refuseRelease(
  services: SendingServices,
  sender: Sender,
  message: OutboundMessage,
  reason: OutboundBlockedReason,
): Promise<void> {
  const now = new Date(services.now());
  const owed = await services.db.transaction(async (sql) => {
    const rows = await sql.query(
      `update outbound_message set state = 'denied', finished_at = $2 
        where id = $1 and state in ('held', 'scheduled') returning 1`,
      [message.id, now],
    );
    if (rows.length === 0) return 0;
    const refused = await sql.query<{ address: string }>(
      `update outbound_recipient set status = 'denied', reply = $2, code = '5.2.0', updated_at = $3
        where message_id = $1 returning address`,
      [message.id, reason, now],
    );
    const blocked = { recipients: refused.map(({ address }) => address), reason, rule: null } as const;
    return recordEvents(sql, [blockedEvent(sender, message, blocked, now)]);
  });
  afterCommit(services, { folderIds: [], owed });
}
