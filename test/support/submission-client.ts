/** A submission client that sends exactly what a test specifies. */
import { readFileSync } from 'node:fs';
import type { ListenerAddress } from '#mail/client-listeners.ts';
import { findOutbound } from '#sending/outbox/outbound-message.ts';
import { startOutbound } from '#sending/submit/start-outbound.ts';
import { type TestMailbox } from './mail-world.ts';
import type { OutboundWorld } from './outbound-world.ts';
import { testTls } from './services.ts';
import { SmtpClient } from './smtp-client.ts';

/** A connection to the listener with STARTTLS, under TLS and greeted, not logged in. */
export async function openSubmissionClient({ host, port }: ListenerAddress): Promise<SmtpClient> {
  const client = await SmtpClient.open(host, port);
  await client.command('EHLO client.test');
  await client.startTls(readFileSync(testTls().caFile));
  await client.command('EHLO client.test');
  return client;
}

/** The same, logged in. */
export async function logIn(
  listener: ListenerAddress,
  { address, token }: Pick<TestMailbox, 'address' | 'token'>,
): Promise<SmtpClient> {
  const client = await openSubmissionClient(listener);
  const reply = await client.command(`AUTH PLAIN ${Buffer.from(`\0${address}\0${token}`).toString('base64')}`);
  if (!reply.startsWith('235')) throw new Error(reply);
  return client;
}

/** Starts what was answered with 250, as the mail process does. @returns the id of the message */
export async function startSubmitted(world: OutboundWorld, reply: string): Promise<string> {
  const [row] = await world.mail.services.db.query<{ id: string }>(
    `select id from outbound_message where id = $1 or consent_id = $1`,
    [/(?:msg|con)_\w+/.exec(reply)?.[0]],
  );
  const message = row === undefined ? undefined : await findOutbound(world.mail.services.db, row.id);
  if (message === undefined) throw new Error(reply);
  const { id, organizationId, mailboxId } = message;
  await startOutbound(world.mail.services, world.temporal, { messageId: id, organizationId, mailboxId });
  return id;
}
