/** Where the attachments of new mail come from: their digests, compared with those of all stored mail. */
import type { Sql } from '#db/database.ts';

/** SHA-256 of decoded parts, hexadecimal. */
export interface PartDigests {
  readonly files: readonly string[];
  /** Of parts that are shown as text: what they contain may be a file all the same. */
  readonly texts: readonly string[];
}

/**
 * Whether one of these parts is an attachment of a message of the organization, or is a whole message, other than
 * those excepted. Mail that was deleted counts. While stored mail of an earlier version is still to be read, the answer
 * for files is yes.
 */
export async function cameFromOtherMail(
  sql: Sql,
  organizationId: string,
  { files, texts }: PartDigests,
  exceptMessageIds: readonly string[],
): Promise<boolean> {
  const digests = [...files, ...texts];
  if (digests.length === 0) return false;
  const [row] = await sql.query<{ found: boolean }>(FOUND, [
    organizationId,
    digests,
    exceptMessageIds,
    files.length > 0,
  ]);
  return row?.found !== false;
}

const FOUND = `
  with given as (select decode(digest, 'hex') as digest from unnest($2::text[]) as digest)
  select exists (
           select from given join attachment_digest d on d.organization_id = $1 and d.digest = given.digest
            where d.message_id <> all($3::text[]))
      or exists (
           select from given join message m on m.blob = given.digest join mailboxes x on x.id = m.mailbox_id
            where x.organization_id = $1 and m.id <> all($3::text[]))
      or $4::bool and exists (
           select from message m join mailboxes x on x.id = m.mailbox_id
            where m.text_status = 'due' and x.organization_id = $1 and m.attachments <> '[]') as found`;
