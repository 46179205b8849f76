import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type MailListeners, startMail } from '#mail/start.ts';
import { type ApiWorld, apiWorld, type TestMailbox } from '#test/support/api-world.ts';
import { dnsStub } from '#test/support/mail-world.ts';
import { SmtpClient } from '#test/support/smtp-client.ts';
import { type ExampleProgram, startExample } from './example-program.ts';

const FOLDER = 'examples/sign-up-with-code';
let world: ApiWorld;
let mail: MailListeners;
let site: ExampleProgram;
let siteUrl: string;

before(async () => {
  world = await apiWorld();
  mail = await startMail(world.services, { lookup: dnsStub() });
  site = startExample(process.execPath, [`${FOLDER}/site.ts`], {
    SMTP: `${mail.smtp.host}:${mail.smtp.port}`,
    PORT: '0',
  });
  siteUrl = await site.wrote(/Example Site: (\S+)/);
});
after(async () => {
  await site?.close();
  await mail?.close();
  await world?.close();
});

const startAgent = (box: TestMailbox) =>
  startExample(process.execPath, [`${FOLDER}/agent.ts`, siteUrl], {
    AGENT_MAILBOX_URL: world.api.url,
    AGENT_MAILBOX_TOKEN: (box.token['authorization'] ?? '').replace('Bearer ', ''),
  });

const post = async (path: string, form: Record<string, string>) =>
  (await fetch(new URL(path, siteUrl), { method: 'POST', body: new URLSearchParams(form) })).status;

async function deliver(box: TestMailbox, from: string, code: string): Promise<void> {
  const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
  const message = `From: ${from}\nTo: ${box.address}\nSubject: Confirm your address\n\nYour verification code is ${code}.\n`;
  assert.match(await client.send(from, [box.address], message), /^250/);
  client.close();
}

test('the agent signs up with the code that the site mails, whatever else is in its mailbox', async () => {
  const box = await world.newMailbox(world.organization);
  // A code of an earlier sign-up, and one from somebody else.
  await deliver(box, 'accounts@site.example', '111111');
  await deliver(box, 'other@elsewhere.example', '222222');
  const agent = startAgent(box);
  await agent.wrote(/waiting for the code/);
  await deliver(box, 'other@elsewhere.example', '333333');
  assert.equal(await agent.ended, 0, agent.output());
  assert.match(agent.output(), new RegExp(`Signed up as ${box.address}`));
  await site.wrote(new RegExp(`${box.address} has an account`));
});

test('the site opens no account without the code', async () => {
  const { address: email } = await world.newMailbox(world.organization);
  assert.equal(await post('/confirm', { email, code: '000000' }), 404);
  assert.equal(await post('/sign-up', { email }), 202);
  assert.equal(await post('/confirm', { email, code: 'abcdef' }), 403);
  assert.doesNotMatch(site.output(), new RegExp(email));
});

test('the agent says what the site answered', async () => {
  const box = await world.newMailbox(world.organization);
  const agent = startExample(process.execPath, [`${FOLDER}/agent.ts`, `${world.api.url}/nowhere/`], {
    AGENT_MAILBOX_URL: world.api.url,
    AGENT_MAILBOX_TOKEN: (box.token['authorization'] ?? '').replace('Bearer ', ''),
  });
  assert.equal(await agent.ended, 1);
  assert.match(agent.output(), /\/sign-up answered 404/);
});
