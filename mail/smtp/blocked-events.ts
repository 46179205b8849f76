/**
 * `email_blocked` for refused mail: the first refusal of a sender, mailbox and reason is recorded at once, further ones
 * within the minute are counted and recorded in one event at its end.
 */

import { recordEvents } from '#core/events/record-event.ts';
import { noticeOutage } from '#core/platform/engine/engine-starts.ts';
import { reasonOf } from '#core/platform/log/error-reason.ts';
import type { Services } from '#core/platform/process/services.ts';
import { BLOCKED_EVENT_INTERVAL_MS } from '#domain/mail/mail-limits.ts';
import type { Recipient } from '#mailstore/delivery/recipients.ts';
import { externalActor } from '#mailstore/delivery/write-delivery.ts';

type BlockedReason = 'quota_exceeded' | 'unauthenticated' | 'blocked_sender';

export interface Blocked {
  readonly recipient: Recipient;
  readonly envelopeFrom: string;
  readonly to: string;
  /** Empty if the message was refused before it was received. */
  readonly subject: string;
  readonly reason: BlockedReason;
  /** Entry of a list that refused. */
  readonly rule?: string;
}

export interface BlockedEvents {
  /** Never waits, never throws. */
  add(blocked: Blocked): void;
  close(): Promise<void>;
}

/** The setting that caused the refusal; null for a limit or an entry of a list. */
const RULES: Readonly<Record<BlockedReason, string | null>> = {
  quota_exceeded: null,
  unauthenticated: 'unauthenticatedMail=reject',
  blocked_sender: null,
};

const KEYS_MAX = 10_000;

export function blockedEvents(services: Services): BlockedEvents {
  const open = new Map<string, { last: Blocked; more: number; timer: NodeJS.Timeout }>();
  const recording = new Set<Promise<void>>();

  function record(blocked: Blocked, count: number): void {
    const task = services.db
      .transaction((sql) => recordEvents(sql, [blockedEvent(blocked, count, services.now())]))
      .then(
        (waiting) => {
          if (waiting > 0) services.deliveriesDue.wake();
        },
        (error: unknown) => {
          if (!noticeOutage(services.log, error))
            services.log.warn({ reason: reasonOf(error) }, 'email_blocked could not be recorded');
        },
      )
      .finally(() => recording.delete(task));
    recording.add(task);
  }

  function endOfMinute(key: string): void {
    const entry = open.get(key);
    open.delete(key);
    if (entry !== undefined && entry.more > 0) record(entry.last, entry.more);
  }

  return {
    add(blocked) {
      const key = `${blocked.recipient.mailbox.id} ${blocked.reason} ${blocked.envelopeFrom.toLowerCase()}`;
      const entry = open.get(key);
      if (entry !== undefined) {
        entry.last = blocked;
        entry.more++;
        return;
      }
      if (open.size >= KEYS_MAX) return;
      const timer = setTimeout(() => endOfMinute(key), BLOCKED_EVENT_INTERVAL_MS);
      timer.unref();
      open.set(key, { last: blocked, more: 0, timer });
      record(blocked, 1);
    },
    async close() {
      for (const [key, { timer }] of open) {
        clearTimeout(timer);
        endOfMinute(key);
      }
      await Promise.all(recording);
    },
  };
}

const blockedEvent = (
  { recipient, envelopeFrom, to, subject, reason, rule }: Blocked,
  count: number,
  nowMs: number,
) => ({
  type: 'email_blocked' as const,
  organization: recipient.organization,
  mailbox: recipient.mailbox,
  actor: externalActor('', envelopeFrom, envelopeFrom),
  occurredAt: new Date(nowMs),
  data: {
    direction: 'inbound',
    messageId: null,
    from: envelopeFrom,
    to: [to],
    subject,
    reason,
    rule: rule ?? RULES[reason],
    count,
  },
});
