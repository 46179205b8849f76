/** The programs of docs/recipes, as printed there. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { signWebhook } from '#client/webhook-signature.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { needs, programFile } from '#test/support/programs.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type ExampleProgram, startExample } from './example-program.ts';

const FASTAPI = 'python3 with fastapi and uvicorn';
const root = fileURLToPath(new URL('../..', import.meta.url));
const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;

let world: ApiWorld;
let mail: MailListeners;
let folder: string;
const running: ExampleProgram[] = [];
before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub() });
  folder = mkdtempSync(path.join(tmpdir(), 'agent-mailbox-recipes-'));
  mkdirSync(path.join(folder, 'node_modules/@agent-mailbox'), { recursive: true });
  symlinkSync(path.join(root, 'client'), path.join(folder, 'node_modules/@agent-mailbox/client'));
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
});
after(async () => {
  for (const program of running) await program.close();
  await mail?.close();
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes the program of a recipe whose first line is a comment with its file name. @returns its path */
function programOf(recipe: string, name: string): string {
  const text = readFileSync(path.join(root, `docs/recipes/${recipe}.md`), 'utf8');
  const blocks = [...text.matchAll(/```(?:ts|python)\n([^]*?)```/g)].map(([, program = '']) => program);
  const program = blocks.find((each) => /^(?:\/\/|#) (.*)\n/.exec(each)?.[1] === name);
  assert.ok(program !== undefined, `${recipe} has no ${name}`);
  const file = path.join(folder, path.basename(path.dirname(name)) === '.' ? name : name.replaceAll('/', '-'));
  writeFileSync(file, program);
  return file;
}

function start(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): ExampleProgram {
  const started = startExample(program, args, environment);
  running.push(started);
  return started;
}

const agentOf = (box: TestMailbox): Record<string, string> => ({
  MAILBOX_URL: world.api.url,
  MAILBOX_TOKEN: (box.token['authorization'] ?? '').replace('Bearer ', ''),
});

async function deliver(box: TestMailbox, header: string, text: string): Promise<void> {
  const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
  const message = `From: ada@elsewhere.example\nTo: ${box.address}\n${header}\n\n${text}\n`;
  assert.match(await client.send('ada@elsewhere.example', [box.address], message), /^250/);
  client.close();
}

test('sign up with a code: the program signs up at a site', async () => {
  const site = start(process.execPath, ['examples/sign-up-with-code/site.ts'], {
    SMTP: `${mail.smtp.host}:${mail.smtp.port}`,
    PORT: '0',
  });
  const box = await world.newMailbox(world.organization);
  const agent = start(process.execPath, [programOf('sign-up-with-a-code', 'sign-up.ts')], {
    ...agentOf(box),
    SITE: await site.wrote(/Example Site: (\S+)/),
    SENDER: 'accounts@site.example',
  });
  assert.equal(await agent.ended, 0, agent.output());
  await site.wrote(new RegExp(`${box.address} has an account`));
});

test('support inbox: unread mail and later mail is answered once, automatic mail is not', async () => {
  const box = await world.newMailbox(world.organization);
  await deliver(box, 'Subject: Where is my parcel?', 'It is late.');
  const agent = start(process.execPath, [programOf('support-inbox', 'support.ts')], agentOf(box));
  await agent.wrote(/Where is my parcel\?: waits for approval/);
  await deliver(box, 'Subject: I am away\nAuto-Submitted: auto-replied', 'Until Monday.');
  await deliver(box, 'Subject: A second question', 'How long?');
  await agent.wrote(/I am away: not answered/);
  await agent.wrote(/A second question: waits for approval/);
  const { body } = await world.call('GET', '/api/mailbox/messages/outbox', { as: box.token });
  assert.deepEqual([0, 1].map((index) => textAt(body, 'data', index, 'subject')).toSorted(), [
    'Re: A second question',
    'Re: Where is my parcel?',
  ]);
  await waitUntil('all mail to be read', async () => {
    const unread = await world.call('GET', '/api/mailbox/messages?folder=INBOX&unread=true', { as: box.token });
    return (unread.body as { data: unknown[] }).data.length === 0;
  });
});

test('approve by phone: the program waits for the decision of a person and gets the reason', async () => {
  const box = await world.newMailbox(world.organization);
  const agent = start(process.execPath, [programOf('approve-by-phone', 'offer.ts')], {
    ...agentOf(box),
    RECIPIENT: 'eve@outside.example',
  });
  await agent.wrote(/Held for approval/);
  const { session } = world.organization.owner;
  const { body } = await world.call('GET', `/api/consents?status=pending&mailboxId=${box.id}`, { as: session });
  const consent = textAt(body, 'data', 0, 'id');
  const denied = await world.call('POST', `/api/consents/${consent}/deny`, {
    as: session,
    body: { reason: 'Too early.' },
  });
  assert.equal(denied.status, 200);
  assert.equal(await agent.ended, 0, agent.output());
  assert.match(agent.output(), /denied: Too early\./);
});

const EVENT = JSON.stringify({ id: 'evt_1', type: 'email_received', data: { subject: 'Hello' } });

/** Posts an event twice with one delivery id, and once with a changed body. @returns the statuses */
async function postEvents(post: (headers: Record<string, string>, body: string) => Promise<number>): Promise<number[]> {
  const headers = await signWebhook('dlv_1', EVENT, SECRET);
  return [await post(headers, EVENT), await post(headers, EVENT), await post(headers, `${EVENT} `)];
}

test('receive in Next.js: the route handler accepts genuine events, handles each once and refuses forged ones', async () => {
  programOf('receive-webhooks', 'app/api/mailbox/route.ts');
  writeFileSync(
    path.join(folder, 'next.ts'),
    `import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { POST } from './app-api-mailbox-route.ts';
const server = createServer(async (request, response) => {
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const answer = await POST(new Request('http://next.invalid/', { method: 'POST', headers, body: await buffer(request) }));
  response.writeHead(answer.status).end(await answer.text());
});
server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port));
`,
  );
  const program = start(process.execPath, [path.join(folder, 'next.ts')], { WEBHOOK_SECRET: SECRET });
  const port = await program.wrote(/port (\d+)/);
  const statuses = await postEvents(async (headers, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    await answer.text();
    return answer.status;
  });
  assert.deepEqual(statuses, [204, 204, 401]);
  assert.equal(program.output().match(/email_received: Hello/g)?.length, 1);
});

test('receive in FastAPI: the application does the same', needs(FASTAPI), async () => {
  programOf('receive-webhooks', 'main.py');
  const program = start(programFile(FASTAPI), ['-m', 'uvicorn', 'main:app', '--app-dir', folder, '--port', '0'], {
    WEBHOOK_SECRET: SECRET,
  });
  const url = await program.wrote(/running on (http:\S+)/);
  const statuses = await postEvents(async (headers, body) => {
    const answer = await fetch(`${url}/api/mailbox`, { method: 'POST', headers, body });
    await answer.text();
    return answer.status;
  });
  assert.deepEqual(statuses, [204, 204, 401]);
  assert.equal(program.output().match(/email_received: Hello/g)?.length, 1);
});
