/** The frame of `agent-mailbox-admin`: usage, exit codes, JSON, settings, signals. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { commandsDocument } from '#dev/generate/commands-document.ts';
import { optionFlag } from '#operations/command.ts';
import { adminProgram, allCommands } from '#operations/program.ts';
import { everyRow } from '#test/support/every-row.ts';
import { runAdmin } from '#test/support/run-admin.ts';
import { openStoreWorld, type StoreWorld } from '#test/support/store-world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

everyRow(
  'each command shows its usage with all its arguments, and refuses an option it lacks',
  await allCommands(),
  ({ name }) => name,
  async (command) => {
    const invoked: string[] = [];
    const parse = async (...args: string[]) => {
      const words = [...command.name.split(' '), ...args];
      let help = '';
      const program = await adminProgram(words, '0.0.0', ({ command: { name } }) => invoked.push(name));
      const named = command.name
        .split(' ')
        .reduce((each, word) => each.commands.find((child) => child.name() === word) ?? assert.fail(word), program);
      named.configureOutput({
        writeOut(text) {
          help += text;
        },
      });
      try {
        program.parse(words, { from: 'user' });
      } catch (error) {
        return { help, code: error instanceof Error && 'code' in error ? error.code : undefined };
      }
      return { help, code: undefined };
    };
    const { help, code } = await parse('--help');
    assert.equal(code, 'commander.helpDisplayed');
    for (const word of [...Object.keys(command.arguments), ...Object.keys(command.options).map(optionFlag), '--json'])
      assert.ok(help.includes(word), `${word} is not in:\n${help}`);
    assert.equal((await parse('--no-such-option')).code, 'commander.unknownOption');
    assert.deepEqual(invoked, []);
  },
);

describe('agent-mailbox-admin', () => {
  let world: StoreWorld;
  let folder: string;
  let databaseUrl: string;
  before(async () => {
    world = await openStoreWorld();
    databaseUrl = world.services.settings.DATABASE_URL ?? '';
    folder = mkdtempSync(path.join(tmpdir(), 'admin-'));
  });
  after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('docs/operations/commands.md is what its commands declare', async () => {
    assert.equal(readFileSync(path.join(root, 'docs/operations/commands.md'), 'utf8'), await commandsDocument());
  });

  test('usage, help and wrong arguments have exit codes of their own', async () => {
    const codes = async (...args: string[]) => (await runAdmin(args)).code;
    assert.deepEqual(
      await Promise.all([codes(), codes('--help'), codes('nonsense'), codes('reset-password'), codes('--version')]),
      [2, 0, 2, 2, 0],
    );
  });

  test('with --json the answer is one value on standard output, and an error one line on standard error', async () => {
    const environment = { DATABASE_URL: databaseUrl, DATA_DIR: folder };
    const sound = await runAdmin(['check-mailstore', '--json'], { environment });
    assert.equal(sound.code, 0, sound.stderr);
    const answer: unknown = JSON.parse(sound.stdout);
    assert.ok(typeof answer === 'object' && answer !== null && 'rules' in answer && Array.isArray(answer.rules));
    const failed = await runAdmin(['--json', 'reset-password', 'nobody@example.org'], { environment });
    assert.deepEqual([failed.code, failed.stdout], [1, '']);
    assert.match(
      failed.stderr.trimEnd().split('\n').at(-1) ?? '',
      /^\{"error":\{"command":"reset-password","message":".*CREDENTIAL_PEPPER is needed/,
    );
  });

  test('findings have an exit code of their own', async () => {
    const mailbox = await world.newMailbox();
    const [row] = await world.services.db.query<{ id: number }>('select id from folder where mailbox_id = $1 limit 1', [
      mailbox.id,
    ]);
    await world.services.db.query('update folder set total = total + 7 where id = $1', [row?.id]);
    const found = await runAdmin(['check-mailstore'], { environment: { DATABASE_URL: databaseUrl, DATA_DIR: folder } });
    await world.services.db.query('update folder set total = total - 7 where id = $1', [row?.id]);
    assert.equal(found.code, 3, found.stdout + found.stderr);
    assert.match(found.stdout, /✖ .*1 at fault/);
  });

  test('settings of a running npm start are taken from DATA_DIR, and never mixed with another database', async () => {
    writeFileSync(
      path.join(folder, 'service.json'),
      JSON.stringify({ databaseUrl, settings: { MAIL_DOMAIN: 'agents.example' } }),
    );
    const pepper = Buffer.from(world.services.pepper).toString('base64');
    writeFileSync(path.join(folder, 'secrets.json'), JSON.stringify({ credentialPepper: pepper }));
    const started = await runAdmin(['check-mailstore'], { environment: { DATA_DIR: folder } });
    assert.equal(started.code, 0, started.stderr);
    const other = await runAdmin(['reset-password', 'a@example.org'], {
      environment: { DATA_DIR: folder, DATABASE_URL: `${databaseUrl}_other` },
    });
    assert.equal(other.code, 1);
    assert.match(other.stderr, /CREDENTIAL_PEPPER is needed/);
  });

  test('an interrupt ends a long command at a safe place', async () => {
    let killed = false;
    const watched = await runAdmin(['check-mailstore', '--watch', '--json'], {
      environment: { DATABASE_URL: databaseUrl, DATA_DIR: folder },
      onProgress(stderr, kill) {
        if (killed || !stderr.includes('Watching')) return;
        killed = true;
        kill('SIGINT');
      },
    });
    assert.equal(watched.code, 0, watched.stderr);
    assert.deepEqual(Object.keys(JSON.parse(watched.stdout) as object), ['folders', 'violation']);
  });
});
