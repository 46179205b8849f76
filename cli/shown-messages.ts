/**
 * Messages that were shown: numbers of the last list, so that `mail open 2` opens the message that was number 2 in it, and
 * those that `mail wait` showed in the last minutes, so that the next one does not show them again.
 */
import { type HandedOut, type MailboxClient, RECENT_SECONDS } from '#client/index.ts';
import { handedOutFile, listFile, readJson, writePrivate } from './configuration.ts';
import { CommandError, EXIT } from './exit-codes.ts';
import type { Session } from './session.ts';

export const INBOX = 'INBOX';
export const LIST_LIMIT = 20;

interface List {
  readonly url: string;
  readonly ids: readonly string[];
}

function readList(profile: string): List | undefined {
  const value = readJson(listFile(profile));
  if (typeof value !== 'object' || value === null || !('url' in value) || !('ids' in value)) return undefined;
  const { url, ids } = value;
  if (typeof url !== 'string' || !Array.isArray(ids)) return undefined;
  return { url, ids: ids.filter((id) => typeof id === 'string') };
}

export function rememberList({ profile, url }: Session, messages: readonly { readonly id: string }[]): void {
  const list: List = { url, ids: messages.map(({ id }) => id) };
  writePrivate(listFile(profile), list);
}

/**
 * The id of a message given by its number in the last list, or by its id. Before any list numbers are those of the
 * inbox.
 *
 * @throws {CommandError}
 */
export async function messageId(session: Session, given: string): Promise<string> {
  if (/^msg_[a-z0-9]+$/.test(given)) return given;
  if (!/^[1-9]\d{0,5}$/.test(given))
    throw new CommandError(
      'invalid_number',
      `${JSON.stringify(given)} is neither the number of a message nor its id.`,
      'Give a number from the last list, such as 1, or an id, such as msg_….',
    );
  const saved = readList(session.profile);
  const ids = saved !== undefined && saved.url === session.url ? saved.ids : await inboxIds(session);
  const id = ids[Number(given) - 1];
  if (id === undefined)
    throw new CommandError(
      'no_such_number',
      `The last list has no message ${given}; it ${ids.length === 0 ? 'is empty' : `ends with ${ids.length}`}.`,
      'List them again: agent-mailbox mail inbox',
      EXIT.notFound,
    );
  return id;
}

async function inboxIds(session: Session): Promise<readonly string[]> {
  const { data } = await inboxOf(session.client);
  rememberList(session, data);
  return data.map(({ id }) => id);
}

const inboxOf = (client: MailboxClient) => client.listMessages({ folder: INBOX, limit: LIST_LIMIT });

/** A message stays known for longer than it counts as recent, because the clocks of two machines differ. */
const KEPT_MS = 10 * RECENT_SECONDS * 1_000;

interface State {
  /** Time at which each was shown, in milliseconds. */
  readonly shown: Readonly<Record<string, number>>;
}

function readState(file: string): State['shown'] {
  const value = readJson(file);
  if (typeof value !== 'object' || value === null || !('shown' in value)) return {};
  const { shown } = value;
  return typeof shown === 'object' && shown !== null ? Object.fromEntries(Object.entries(shown)) : {};
}

/** Written when a message is added. */
export function handedOutOf({ profile }: Session): HandedOut {
  const file = handedOutFile(profile);
  const now = Date.now();
  const shown = new Map(Object.entries(readState(file)).filter(([, at]) => now - at < KEPT_MS));
  return {
    has: (messageId) => shown.has(messageId),
    add(messageId) {
      shown.set(messageId, now);
      const state: State = { shown: Object.fromEntries(shown) };
      writePrivate(file, state);
    },
  };
}
