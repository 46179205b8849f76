/** Numbers of the last list that was shown, so that `mail open 2` opens the message that was number 2 in that list. */
import type { MailboxClient } from '#client/index.ts';
import { listFile, readJson, writePrivate } from './configuration.ts';
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
