import { newId } from '#core/platform/new-id.ts';
import type { ApiWorld } from './api-world.ts';

/** Mail that is held for a new mailbox of the organization. @returns its id */
export const holdMail = async (world: ApiWorld, organization = world.organization): Promise<string> =>
  holdMailOf(world, organization.id, await world.newMailbox(organization), 'bob@stranger.example', 'Words.');

/** The same for a mailbox that is there. */
export async function holdMailOf(
  world: Pick<ApiWorld, 'sql'>,
  organizationId: string,
  mailbox: { readonly id: string; readonly address: string },
  author: string,
  text: string,
): Promise<string> {
  const id = newId('message');
  const bytes = Buffer.from(
    `From: ${author}\r\nTo: ${mailbox.address}\r\nSubject: Held\r\nMessage-ID: <${id}@stranger.example>\r\n\r\n${text}\r\n`,
  );
  await world.sql(
    `insert into held_arrival (id, organization_id, mailbox_id, reasons, author, proven, from_addresses, envelope_from,
       delivered_to, source, subject, preview, signals, labels, to_junk, size, bytes, received_at)
     values ($1, $2, $3, '{first_sender}', $4, false, jsonb_build_array(jsonb_build_object('name', '', 'address', $4::text)),
       $4, $5, '192.0.2.0', 'Held', $6, '[]', '{}', false, $7, $8, now())`,
    [id, organizationId, mailbox.id, author, mailbox.address, text, bytes.length, bytes],
  );
  return id;
}
