/** All messages of a mailbox, as an IMAP client sees them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ImapFlow } from 'imapflow';
import type { ServiceFacts } from '#dev/launcher/service-file.ts';
import type { RecordedFolder, RecordedMailbox, RecordedMessage } from './record-format.ts';

type ImapFacts = Pick<ServiceFacts, 'imap' | 'caFile'>;

/** A signed-in client. */
export async function openImap({ imap, caFile }: ImapFacts, address: string, token: string): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: 'localhost',
    port: imap?.port ?? 0,
    secure: true,
    auth: { user: address, pass: token },
    tls: { ca: readFileSync(caFile ?? '') },
    logger: false,
  });
  await client.connect();
  return client;
}

/**
 * @param mailbox its first token is used
 * @param compared which bytes of a message are compared; default: all
 */
export async function readFolders(
  facts: ImapFacts,
  { address, tokens }: Pick<RecordedMailbox, 'address' | 'tokens'>,
  compared = (bytes: Buffer): Buffer | string => bytes,
): Promise<RecordedFolder[]> {
  const client = await openImap(facts, address, tokens[0]?.token ?? '');
  const folders: RecordedFolder[] = [];
  try {
    for (const { path } of await client.list()) {
      const { uidValidity, uidNext, exists } = await client.mailboxOpen(path, { readOnly: true });
      const messages: RecordedMessage[] = [];
      const items = { uid: true, flags: true, source: true, internalDate: true };
      for await (const { uid, flags, source, internalDate } of exists === 0 ? [] : client.fetch('1:*', items))
        messages.push({
          uid,
          // Set by the server for the session that sees it first.
          flags: [...(flags ?? [])].filter((flag) => flag !== '\\Recent').toSorted(),
          sha256: createHash('sha256')
            .update(compared(source ?? Buffer.alloc(0)))
            .digest('hex'),
          internalDate: new Date(internalDate ?? 0).toISOString(),
        });
      folders.push({ path, uidValidity: String(uidValidity), uidNext, messages });
    }
  } finally {
    await client.logout();
  }
  return folders;
}
