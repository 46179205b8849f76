/**
 * A disk that is full under the spool: SMTP answers 452 4.3.1 and IMAP NO [UNAVAILABLE], nothing cut short is stored, and
 * connections go on. By two real mechanisms: a file size limit of this process, which any user may set and which makes the
 * kernel take a part of a write, and a file system that is too small, where mounting one is allowed.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { MESSAGE_MEMORY_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { openSpool } from '#mailstore/blobs/spool.ts';
import { LineClient } from '#test/support/line-client.ts';
import { letter, openMailWorld } from '#test/support/mail-world.ts';
import { needs, type ProgramName } from '#test/support/programs.ts';
import { testTls } from '#test/support/services.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { storedMail } from '#test/support/stored-mail.ts';

const world = await openMailWorld();
after(() => world.close());

const spoolFolder = path.join(world.services.settings.DATA_DIR, 'spool');
/** More than the spool holds, but not a multiple of any block or chunk. */
const ROOM_BYTES = MESSAGE_MEMORY_MAX_BYTES + 4_096 + 5;

interface FullDisk {
  readonly name: string;
  readonly program: ProgramName;
  /** Makes the spool full beyond `ROOM_BYTES`, or takes that back. */
  set(full: boolean): void;
}

const setFileSizeLimit = (limit: string): void => {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${limit}:`]);
};

const DISKS: readonly FullDisk[] = [
  {
    name: 'a file size limit',
    program: 'prlimit',
    set: (full) => setFileSizeLimit(full ? String(ROOM_BYTES) : 'unlimited'),
  },
  {
    name: 'a small file system',
    program: 'the right to mount file systems',
    set: (full) =>
      void (full
        ? execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${ROOM_BYTES}`, 'tmpfs', spoolFolder])
        : execFileSync('umount', [spoolFolder])),
  },
];

async function whileFull<T>(disk: FullDisk, work: () => Promise<T>): Promise<T> {
  disk.set(true);
  try {
    return await work();
  } finally {
    disk.set(false);
  }
}

const large = (subject: string): string => letter(subject, '', `${'x'.repeat(998)}\n`.repeat(400));

for (const disk of DISKS) {
  test(`${disk.name}: a spool that could not take every byte gives none`, needs(disk.program), async () => {
    const folder = disk.name.includes('file system') ? spoolFolder : mkdtempSync(path.join(tmpdir(), 'spool-'));
    await whileFull(disk, async () => {
      const spool = openSpool(folder, 0);
      for (let written = 0; written <= ROOM_BYTES; written += 65_536) await spool.write(Buffer.alloc(65_536, 'x'));
      const message = await spool.end();
      await assert.rejects(message.bytes(), /spool cannot be written/);
      await message.discard();
      assert.deepEqual(readdirSync(folder), [], 'no file is left');
    });
    if (folder !== spoolFolder) rmSync(folder, { recursive: true });
  });

  test(
    `${disk.name}: inbound SMTP answers 452 4.3.1, and the connection accepts the next message`,
    needs(disk.program),
    async () => {
      const mailbox = await world.createMailbox(`full-${DISKS.indexOf(disk)}`);
      const client = await world.connect();
      const message = large('too much for the disk');
      await whileFull(disk, async () => {
        assert.match(await client.send('bob@example.com', [mailbox.address], message), /^452 4\.3\.1 /);
        assert.match(await client.send('bob@example.com', [mailbox.address], letter('small')), /^250 /);
      });
      assert.match(await client.send('bob@example.com', [mailbox.address], message), /^250 /);
      client.close();
      const stored = await storedMail(world, mailbox);
      assert.deepEqual(
        stored.map((bytes) => bytes.length > 400_000),
        [false, true],
      );
    },
  );

  test(
    `${disk.name}: submission answers 452 4.3.1, and the connection accepts the message later`,
    needs(disk.program),
    async () => {
      const mailbox = await world.createMailbox(`full-sender-${DISKS.indexOf(disk)}`);
      const client = await SmtpClient.open('127.0.0.1', world.mail.submissionStarttls.port);
      await client.command('EHLO client.test');
      await client.startTls(readFileSync(testTls().caFile));
      await client.command('EHLO client.test');
      const credentials = Buffer.from(`\0${mailbox.address}\0${mailbox.token}`).toString('base64');
      assert.match(await client.command(`AUTH PLAIN ${credentials}`), /^235 /);
      const message = large('sent').replace('bob@example.com', mailbox.address);
      await whileFull(disk, async () =>
        assert.match(await client.send(mailbox.address, [mailbox.address], message), /^452 4\.3\.1 /),
      );
      assert.match(await client.send(mailbox.address, [mailbox.address], message), /^250 /);
      client.close();
    },
  );

  test(`${disk.name}: APPEND answers NO [UNAVAILABLE], and the connection continues`, needs(disk.program), async () => {
    const mailbox = await world.createMailbox(`full-append-${DISKS.indexOf(disk)}`);
    const client = await LineClient.open(world.mail.imap.port, { secure: true });
    await client.line();
    await client.tagged('a', `LOGIN ${mailbox.address} ${mailbox.token}`);
    const bytes = Buffer.from(large('appended').replace(/\n/g, '\r\n'));
    const append = async (tag: string) => {
      client.send(`${tag} APPEND INBOX {${bytes.length}+}\r\n`);
      client.send(Buffer.concat([bytes, Buffer.from('\r\n')]));
      for (;;) {
        const line = await client.line();
        if (line === undefined || line.startsWith(`${tag} `)) return line;
      }
    };
    assert.match((await whileFull(disk, () => append('b'))) ?? '', /^b NO \[UNAVAILABLE\] /);
    assert.match((await append('c')) ?? '', /^c OK /);
    client.close();
  });
}

test('messages stored meanwhile pass the store check', async () => {
  assert.deepEqual(await world.faults(), []);
});
