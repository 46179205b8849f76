import { newId } from '#core/platform/new-id.ts';
import type { ApiWorld } from './api-world.ts';

/** Mail that is held for a new mailbox of the organization. @returns its id */
export async function holdMail(world: ApiWorld, organization = world.organization): Promise<string> {
  const mailbox = await world.newMailbox(organization);
  const id = newId('message');
  const bytes = Buffer.from(
    `From: bob@stranger.example\r\nTo: ${mailbox.address}\r\nSubject: Held\r\nMessage-ID: <${id}@stranger.example>\r\n\r\nWords.\r\n`,
  );
  await world.sql(
    `insert into held_arrival (id, organization_id, mailbox_id, reasons, author, proven, from_addresses, envelope_from,
       delivered_to, source, subject, preview, signals, labels, to_junk, size, bytes, received_at)
     values ($1, $2, $3, '{first_sender}', 'bob@stranger.example', false, '[{"name":"","address":"bob@stranger.example"}]',
       'bob@stranger.example', $4, '192.0.2.0', 'Held', 'Words.', '[]', '{}', false, $5, $6, now())`,
    [id, organization.id, mailbox.id, mailbox.address, bytes.length, bytes],
  );
  return id;
}
