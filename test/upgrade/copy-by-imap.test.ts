/** The commands of docs/upgrading.md copy a mailbox from one installation to another. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { OrganizationClient } from '#client/index.ts';
import { runProgram } from '#test/mail/clients/run-program.ts';
import { deliverBySmtp } from '#test/support/deliver-by-smtp.ts';
import { needs } from '#test/support/programs.ts';
import { keptService } from '#test/support/started-service.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { openImap, readFolders } from './read-folders.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'copy-by-imap-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The configuration of the document, with the ports and names of the test. */
function configuration(port: number, caFile: string, addresses: readonly string[]): string {
  const document = readFileSync(new URL('../../docs/upgrading.md', import.meta.url), 'utf8');
  const [, text = ''] = /```\n(IMAPAccount old\n[^]*?)```/.exec(document) ?? [];
  return text
    .replaceAll(/^Port \d+$/gm, `Port ${port}`)
    .replaceAll(/^CertificateFile .*$/gm, `CertificateFile ${caFile}`)
    .replaceAll('./copy-', `${folder}/copy-`)
    .replaceAll(/cat (old|new)-token/g, (_, which: string) => `cat ${folder}/${which}-token`)
    .replace('User agent@agents.example', `User ${addresses[0]}`)
    .replace('User agent@agents.example', `User ${addresses[1]}`);
}

test(
  'a mailbox is copied with folders, flags, dates and every byte but a header line of mbsync',
  needs('mbsync'),
  async () => {
    const { service } = await keptService();
    const { facts } = service;
    const organization = new OrganizationClient({ url: facts.apiUrl, apiKey: facts.apiKey ?? '' });
    const [old, next] = [await organization.mailboxes.create(), await organization.mailboxes.create()];
    for (const subject of ['One', 'Zwölf']) await deliverBySmtp(facts, { to: old.address, subject, text: subject });
    await waitUntil('the mail', async () => (await organization.mailbox(old.id).listMessages()).data.length === 2);
    const client = await openImap(facts, old.address, old.token ?? '');
    await client.mailboxCreate('Projects/2026');
    const lock = await client.getMailboxLock('INBOX');
    await client.messageFlagsAdd('1', ['\\Seen', '\\Flagged']);
    lock.release();
    await client.append(
      'Projects/2026',
      'Subject: Appended\r\n\r\nOld.\r\n',
      ['\\Seen'],
      new Date('2015-01-05T09:00:00Z'),
    );
    await client.logout();

    writeFileSync(path.join(folder, 'old-token'), old.token ?? '');
    writeFileSync(path.join(folder, 'new-token'), next.token ?? '');
    const config = path.join(folder, 'copy.mbsyncrc');
    writeFileSync(config, configuration(facts.imap?.port ?? 0, facts.caFile ?? '', [old.address, next.address]));
    const { code, stderr } = await runProgram('mbsync', ['--config', config, 'copy'], {
      environment: { HOME: folder },
    });
    assert.equal(code, 0, stderr);

    const read = async ({ address, token }: typeof old) => {
      const mailbox = { address, tokens: [{ access: 'full', token: token ?? '' }] } as const;
      const folders = await readFolders(facts, mailbox, (bytes) =>
        bytes.toString('latin1').replace(/^X-TUID: .*\r\n/m, ''),
      );
      return folders.map(({ path: name, messages }) => [
        name,
        messages.map(({ flags, sha256, internalDate }) => [flags, sha256, internalDate]),
      ]);
    };
    assert.deepEqual(await read(next), await read(old));
  },
);
