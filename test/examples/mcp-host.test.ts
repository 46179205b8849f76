/**
 * The program of the README by an MCP host with the client of the protocol: its mailbox is made, it registers, waits for
 * the code, answers with a PDF, and the customer's server verifies the webhook. Over HTTP a person connects the host by
 * OAuth in the browser; over stdio it has the token.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { OrganizationClient, verifyWebhook } from '#client/index.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { at, textAt } from '#test/support/api-world.ts';
import { type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { type CommandLine, commandLine } from '#test/support/command-line.ts';
import { signedInPage } from '#test/support/dashboard-sign-in.ts';
import { pdf } from '#test/support/documents.ts';
import { BACK, type McpHost, startMcpHost } from '#test/support/mcp-host.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { type WholeService, wholeService } from '#test/support/whole-service.ts';

const PROGRAM = fileURLToPath(new URL('../../cli/agent-mailbox.mjs', import.meta.url));
const PDF = pdf([['Offer']]);

let service: WholeService;
let browser: TestBrowser;
let host: McpHost;
let cli: CommandLine;
let folder: string;
let organization: OrganizationClient;
let secret: string;

before(async () => {
  await buildDashboard();
  [service, browser] = await Promise.all([wholeService(), testBrowser()]);
  host = await startMcpHost();
  const { url } = service.api;
  cli = commandLine(url);
  folder = mkdtempSync(path.join(tmpdir(), 'mcp-host-'));
  writeFileSync(path.join(folder, 'offer.pdf'), PDF);
  organization = new OrganizationClient({ url, apiKey: service.organization.key['x-organization-key'] ?? '' });
  const made = await organization.webhooks.create({ url: service.receiver.url, eventTypes: ['email_received'] });
  secret = made.secret ?? '';
});
after(async () => {
  cli?.close();
  host?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  await browser?.close();
  await service?.close();
});

interface Mailbox {
  readonly address: string;
  readonly token: string | null;
}

/** A person lets the host in, on the real pages. */
async function overHttp({ address }: Mailbox): Promise<Client> {
  const url = new URL('/mcp', service.api.url);
  const transport = new StreamableHTTPClientTransport(url, { authProvider: host.provider });
  await assert.rejects(new Client({ name: 'test', version: '1' }).connect(transport), /[Uu]nauthorized/);
  const { page } = await signedInPage(browser, service.api.url, service.organization.owner.email, '/mailboxes');
  await page.goto(host.page());
  await page.getByLabel('Mailbox', { exact: true }).selectOption({ label: address });
  await page.getByRole('button', { name: 'Connect it' }).click();
  await page.getByText(BACK).waitFor();
  await transport.finishAuth(host.brought());
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: host.provider }));
  return client;
}

async function overStdio({ token }: Mailbox): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, 'mcp', '--files', folder],
      env: { ...cli.environment, AGENT_MAILBOX_TOKEN: token ?? '' },
      stderr: 'pipe',
    }),
  );
  return client;
}

for (const [transport, connect] of [
  ['HTTP with OAuth', overHttp],
  ['stdio', overStdio],
] as const)
  test(`a host registers, reads the code and answers with a PDF over ${transport}; the webhook verifies`, async () => {
    const created = await organization.mailboxes.create({});
    const client = await connect(created);
    let said = 0;
    const call = async (name: string, input: Record<string, unknown>): Promise<unknown> => {
      const { structuredContent, content, isError } = await client.callTool({ name, arguments: input });
      assert.notEqual(isError, true, JSON.stringify(content));
      said += JSON.stringify([input, structuredContent]).length;
      return structuredContent;
    };
    const address = textAt(await call('get_mailbox', {}), 'address');
    assert.equal(address, created.address);
    // The shop mails the code before the host waits for it.
    const letter = `From: shop@shop.example\r\nTo: ${address}\r\nSubject: Your code\r\n\r\nYour code is 482913.\r\n`;
    assert.match(await service.deliver(address, letter, 'shop@shop.example'), /^250/);
    const waited = await call('wait_for_message', { subject: 'Your code', extract: ['otp'] });
    const code = textAt(waited, 'messages', 0, 'otp');
    assert.equal(code, '482913');

    said = 0;
    let attachment: object = { path: path.join(folder, 'offer.pdf') };
    if (transport !== 'stdio') {
      const upload = await call('create_upload', { filename: 'offer.pdf', contentType: 'application/pdf' });
      assert.equal((await fetch(textAt(upload, 'url'), { method: 'PUT', body: new Uint8Array(PDF) })).status, 201);
      attachment = { fileId: textAt(upload, 'fileId') };
    }
    const messageId = textAt(waited, 'messages', 0, 'id');
    const answer = await call('reply_to_message', { messageId, text: code, attachments: [attachment] });
    assert.ok(said < 1_500, `${said} characters, however long the file is`);
    assert.equal(at(answer, 'held'), true, 'a first contact: a person decides');
    const { owner } = service.organization;
    const approved = await service.call('POST', `/api/consents/${textAt(answer, 'consentId')}/approve`, {
      as: owner.session,
      body: { scope: 'message' },
    });
    assert.equal(approved.status, 200, approved.text);
    const status = async () => at(await call('message_status', { messageId: textAt(answer, 'id') }), 'status');
    await waitUntil('it to be sent', async () => (await status()) === 'sent', 60_000);

    const ofMailbox = () => service.receiver.requests.find(({ body }) => body.includes(address));
    await waitUntil('the webhook', () => ofMailbox() !== undefined, 60_000);
    const request = ofMailbox();
    assert.ok(request !== undefined);
    const event = await verifyWebhook(request.headers, request.body, secret);
    assert.equal(event.type, 'email_received');
    await assert.rejects(verifyWebhook(request.headers, `${request.body} `, secret));
    await client.close();
  });
