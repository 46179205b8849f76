/** The folder of a list of messages: INBOX, unless the request asks for another, for all, or for a label. */
import type { Static } from 'typebox';
import type { MessagesQuery } from '#api/messages/schema.ts';
import type { Sql } from '#db/database.ts';
import { CatalogueError } from '#domain/errors.ts';
import type { MessageFilter } from '#mailstore/messages/read-messages.ts';

/** Asks for every folder; junk is left out. */
export const ALL_FOLDERS = '*';

/** The folder of a query as a filter. */
export const folderOf = (folder: string | undefined): { folder?: string } =>
  folder === undefined || folder === ALL_FOLDERS ? {} : { folder };

/** The filters of a query, shared by lists and long polls. */
export function filterOf(query: Omit<Static<typeof MessagesQuery>, 'limit' | 'cursor'>): MessageFilter {
  const { folder, label, unread, from, to, subject, since, until } = query;
  return {
    ...folderOf(folder),
    ...(label === undefined ? {} : { label }),
    ...(unread === undefined ? {} : { unread }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(subject === undefined ? {} : { subject }),
    ...(since === undefined ? {} : { since: new Date(since) }),
    ...(until === undefined ? {} : { until: new Date(until) }),
  };
}

/** The filters of a list. */
export function listFilterOf(query: Static<typeof MessagesQuery>): MessageFilter {
  const filter = filterOf(query);
  return query.folder === undefined && query.label === undefined
    ? { ...filter, folder: 'INBOX', withoutJunk: true }
    : filter;
}

/** @param who beginning of the sentence, such as `The mailbox has` */
export const unknownFolder = (name: string, who: string): CatalogueError =>
  new CatalogueError('invalid_request', `${who} no folder ${JSON.stringify(name)}.`, {
    details: [{ path: 'query/folder', message: 'is not a folder of this mailbox' }],
    fix: 'Use a name from the list of folders, GET /api/mailbox/folders or /api/mailboxes/:id/folders, or * for all.',
  });

/**
 * Refuses a filter by a folder the mailbox does not have, which would find nothing for ever.
 *
 * @throws {CatalogueError} invalid_request
 */
export async function requireFolder(sql: Sql, mailboxId: string, name: string | undefined): Promise<void> {
  if (name === undefined || name === ALL_FOLDERS) return;
  const [folder] = await sql.query(FIND, [mailboxId, name.normalize('NFC').toLowerCase()]);
  if (folder === undefined) throw unknownFolder(name, 'The mailbox has');
}

const FIND = `select 1 from folder where mailbox_id = $1 and name_key = $2 and deleted_at is null`;
