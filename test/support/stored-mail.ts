import { createHash } from 'node:crypto';
import type { MailWorld, TestMailbox } from './mail-world.ts';

/** Stored bytes of the messages in a folder, by UID. */
export async function storedMail(world: MailWorld, mailbox: TestMailbox, folder = 'INBOX'): Promise<Buffer[]> {
  const rows = await world.services.db.query<{ bytes: Buffer }>(
    `select b.bytes from placement p join folder f on f.id = p.folder_id join message m on m.id = p.message_id
       join blob b on b.sha256 = m.blob
      where f.mailbox_id = $1 and f.name = $2 and f.deleted_at is null order by p.uid`,
    [mailbox.id, folder],
  );
  return rows.map(({ bytes }) => bytes);
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
