import type { Static } from 'typebox';
import { temporalLink } from '#api/http/temporal-link.ts';
import type { Activity } from '#core/events/find-activity.ts';
import type { Settings } from '#core/platform/settings/settings.ts';
import type { MessageHitRow } from '#db/queries/events/activity-search.ts';
import { outboundStatus } from '#domain/sending/outbound.ts';
import type { ActivityEntry } from '#domain/webhooks/activity.ts';
import type { ActivityResult } from './schema.ts';

type Result = Static<typeof ActivityResult>;

function directionOf({ state, origin }: MessageHitRow): 'inbound' | 'outbound' | 'stored' {
  if (state !== null || origin === 'submission') return 'outbound';
  return origin === 'append' || origin === 'system' ? 'stored' : 'inbound';
}

const presentMessage = (message: MessageHitRow): Result['hits'][number] => ({
  id: message.id,
  mailboxId: message.mailboxId,
  mailboxAddress: message.mailboxAddress,
  direction: directionOf(message),
  subject: message.subject,
  from: message.from,
  to: [...message.to],
  at: message.at.toISOString(),
  status: message.state === null ? null : outboundStatus(message.state, message.statuses),
});

const presentEntry = ({ at, dueAt, ...entry }: ActivityEntry, settings: Settings) => ({
  ...entry,
  at: at?.toISOString() ?? null,
  dueAt: dueAt?.toISOString() ?? null,
  ...temporalLink(entry.workflowId, settings),
});

export const presentActivity = (activity: Activity, settings: Settings): Result => ({
  understoodAs: activity.understoodAs,
  hits: activity.hits.map(presentMessage),
  more: activity.more,
  complete: activity.complete,
  timeline:
    activity.timeline === null
      ? null
      : {
          message: activity.timeline.message === null ? null : presentMessage(activity.timeline.message),
          entries: activity.timeline.entries.map((entry) => presentEntry(entry, settings)),
          truncated: activity.timeline.truncated,
        },
});
