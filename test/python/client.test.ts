/** The Python package: its files are those of the routes, its types are strict, and it works with a running service. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { routes } from '#api/routes.ts';
import { PYTHON_VERSIONS, pythonEnvironment, pythonOf, usualPython } from '#dev/build/python-environment.ts';
import { pythonMethods } from '#dev/generate/python-client/schema-as-python.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { needs, PYTHON } from '#test/support/programs.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../python', import.meta.url));
const LIMIT_MS = 300_000;

let world: ApiWorld;
let mail: MailListeners;
let environment: Readonly<Record<string, string | undefined>>;
before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub() });
  const { key, owner } = world.organization;
  environment = {
    PATH: process.env['PATH'],
    PYTHONPATH: path.join(folder, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
    // Warnings of pydantic or of a file that was not closed are errors.
    PYTHONWARNINGS: 'error::UserWarning,error::ResourceWarning',
    MAILBOX_URL: world.api.url,
    API_KEY: key['x-organization-key'],
    SESSION: owner.session['authorization']?.replace('Bearer ', ''),
    SMTP: `${mail.smtp.host}:${mail.smtp.port}`,
  };
});
after(async () => {
  await mail?.close();
  await world?.close();
});

/** @returns what it wrote; unittest writes its report to stderr */
async function python(version: string, args: readonly string[]): Promise<string> {
  const interpreter = pythonEnvironment(version, 'requirements');
  const { stdout, stderr } = await run(interpreter, args, { cwd: folder, env: { ...environment }, timeout: LIMIT_MS });
  return stdout + stderr;
}

for (const version of PYTHON_VERSIONS)
  test(`both clients work on Python ${version}`, {
    skip: pythonOf(version) === undefined && `no Python ${version}`,
  }, async () => {
    const pure = await python(version, ['-m', 'unittest', 'discover', '-s', 'tests', '-t', '.']);
    assert.match(pure, /Ran [1-9]\d* tests[^]*\nOK\n$/);
    const live = await python(version, ['-m', 'unittest', 'tests.live_service']);
    assert.match(live, /Ran [1-9]\d* tests[^]*\nOK\n$/);
  });

test('every method calls the route that docs/coverage.md names', needs(PYTHON), async () => {
  const [both, ...more] = JSON.parse(await python(usualPython() ?? '', ['-m', 'tests.asked_routes'])) as Readonly<
    Record<string, readonly string[]>
  >[];
  const table: Record<string, string[]> = {};
  for (const [asks, names] of pythonMethods())
    for (const name of names) table[name] = [...(table[name] ?? []), asks.replaceAll(/\{\w+\}/g, 'one')].toSorted();
  assert.deepEqual(both, table);
  assert.deepEqual(more, [both]);
});

test('the text of a model has nothing that a route shows only once', () => {
  const model = readFileSync(path.join(folder, 'src/agent_mailbox/_model.py'), 'utf8');
  // An invitation is an object with these fields; the URL of an upload is named by its model.
  const named = routes.flatMap(({ secretFields = [] }) => secretFields).filter((name) => name !== 'invitation');
  assert.ok(named.length > 5);
  for (const name of named)
    assert.match(model, new RegExp(`"${name.replaceAll(/[A-Z]/g, '_$&').toLowerCase()}"`), name);
});

test('it builds, installs into an empty folder, and is typed there', needs(PYTHON), async () => {
  const interpreter = pythonEnvironment(usualPython() ?? '', 'requirements-tools');
  const empty = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-python-'));
  try {
    const options = { cwd: folder, timeout: LIMIT_MS };
    const built = path.join(empty, 'built');
    await run(process.execPath, [path.join(folder, '../dev/build/build-python.ts'), built], options);
    const files = readdirSync(built).toSorted();
    assert.deepEqual(
      files.map((name) => name.replace(/-\d[\d.]*\d(?=[-.])/, '')),
      ['agent_mailbox-py3-none-any.whl', 'agent_mailbox.tar.gz'],
    );
    const site = path.join(empty, 'site');
    const wheel = path.join(built, files[0] ?? '');
    const install = ['install', '--quiet', '--no-deps', '--no-index', '--target', site, wheel];
    await run(interpreter, ['-m', 'pip', ...install], options);
    assert.deepEqual(
      readdirSync(site).filter((name) => !name.endsWith('.dist-info')),
      ['agent_mailbox'],
    );
    writeFileSync(path.join(empty, 'program.py'), TYPED);
    const cwd = { cwd: empty, env: { ...process.env, PYTHONPATH: site, MYPYPATH: site }, timeout: LIMIT_MS };
    const { stdout } = await run(
      interpreter,
      ['-m', 'mypy', '--strict', '--cache-dir', path.join(empty, 'cache'), 'program.py'],
      cwd,
    );
    assert.match(stdout, /Success: no issues found/);
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
});

for (const origin of ['a clone', 'the published source'] as const)
  test(`it installs from ${origin}, in which the synchronous client is made`, needs(PYTHON), async () => {
    const interpreter = pythonEnvironment(usualPython() ?? '', 'requirements-tools');
    const empty = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-python-'));
    try {
      const clone = path.join(empty, 'clone');
      cpSync(folder, clone, { recursive: true, filter: (file) => !/_sync|__pycache__/.test(path.basename(file)) });
      const build = ['-m', 'hatchling', 'build', '--target', 'sdist', '--directory', path.join(empty, 'built')];
      if (origin === 'the published source') await run(interpreter, build, { cwd: clone, timeout: LIMIT_MS });
      const [archive = ''] = origin === 'a clone' ? ['./clone'] : globSync('built/*.tar.gz', { cwd: empty });
      const site = path.join(empty, 'site');
      const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index', '--no-build-isolation'];
      await run(interpreter, [...install, '--target', site, archive], { cwd: empty, timeout: LIMIT_MS });
      const installed = (name: string) =>
        readdirSync(path.join(site, 'agent_mailbox', name)).filter((file) => file.endsWith('.py'));
      assert.deepEqual(installed('_sync'), installed('_async'));
      const env = { ...process.env, PYTHONPATH: site };
      await run(
        interpreter,
        ['-c', 'from agent_mailbox import MailboxClient; MailboxClient("http://a", token="amt_x").list_folders'],
        { cwd: empty, env },
      );
    } finally {
      rmSync(empty, { recursive: true, force: true });
    }
  });

/** Warnings about an ignore that is not needed are errors: each marks what must not be possible. */
const TYPED = `
from agent_mailbox import AsyncMailboxClient, MailboxClient, OrganizationClient, Page, verify_webhook
from agent_mailbox.models import HeldMessage, MessageSummary, RepeatedMessage, SentMessage

service = OrganizationClient("http://127.0.0.1:1", api_key="amk_x")
mailbox: MailboxClient = service.mailbox("mbx_1")

def subjects() -> list[str]:
    return [message.subject for message in mailbox.list_messages(unread=True)]

def first() -> Page[MessageSummary]:
    return mailbox.list_messages().page()

def send() -> str:
    sent = mailbox.send_message(to="a@b.c", subject="s")
    if isinstance(sent, HeldMessage):
        return sent.consent_id
    if isinstance(sent, RepeatedMessage):
        return sent.message
    checked: SentMessage = sent
    return checked.status

async def events(asynchronous: AsyncMailboxClient) -> None:
    async for event in asynchronous.events():
        if event.name == "messages_added":
            print(event.data.messages)

def hook(headers: dict[str, str], body: bytes) -> str:
    event = verify_webhook(headers, body, "whsec_")
    if event.type == "email_received":
        event.data.reason  # type: ignore[attr-defined]
        return event.data.subject
    return event.id

mailbox.send_message(subject=1)  # type: ignore[arg-type]
mailbox.send_message(text="no subject")  # type: ignore[call-arg]
`;

test('the source and its tests are strictly typed', needs(PYTHON), async () => {
  const interpreter = pythonEnvironment(usualPython() ?? '', 'requirements-tools');
  const cache = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-mypy-'));
  try {
    const { stdout } = await run(interpreter, ['-m', 'mypy', '--cache-dir', cache], { cwd: folder, timeout: LIMIT_MS });
    assert.match(stdout, /Success: no issues found/);
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
});
