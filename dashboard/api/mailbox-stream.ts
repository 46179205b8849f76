import type { Schemas } from './client.ts';
import { followEvents, type StreamEvent } from './event-stream.ts';
import { activeOrganizationId } from './organization.ts';

/** A change of a mailbox, as its stream of events names it. */
export type MailboxChange =
  | {
      readonly kind: 'changed';
      readonly folder: string | null;
      readonly messages: readonly Schemas['MessageSummary'][];
    }
  | { readonly kind: 'removed'; readonly folder: string | null; readonly messageIds: readonly string[] }
  /** The client has missed something, or may have. */
  | { readonly kind: 'resync' };

/** Follows the changes of a mailbox until the signal aborts. */
export async function followMailbox(
  mailboxId: string,
  onChange: (change: MailboxChange) => void,
  signal: AbortSignal,
): Promise<void> {
  const onEvent = (event: StreamEvent) => {
    const change = changeOf(event);
    if (change !== undefined) onChange(change);
  };
  const path = `/api/mailboxes/${mailboxId}/events/stream`;
  const place = { path, organizationId: activeOrganizationId(), lastId: '' };
  await followEvents(place, onEvent, signal, (isOpen) => {
    // Data requested before the stream began may have changed since, and no event would report it.
    if (isOpen && place.lastId === '') onChange({ kind: 'resync' });
  });
}

function changeOf({ name, data }: StreamEvent): MailboxChange | undefined {
  if (name === 'resync') return { kind: 'resync' };
  if (!name.startsWith('messages_')) return undefined;
  const { folder, messages, messageIds } = JSON.parse(data) as {
    folder: string | null;
    messages?: Schemas['MessageSummary'][];
    messageIds?: string[];
  };
  if (name === 'messages_removed') return { kind: 'removed', folder, messageIds: messageIds ?? [] };
  return { kind: 'changed', folder, messages: messages ?? [] };
}
