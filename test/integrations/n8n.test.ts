/** The built nodes for n8n against the world.service, driven as n8n drives them. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { at, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import type { Fields, Item } from '../../integrations/n8n/src/n8n-interfaces.ts';
import { asTime } from '../../integrations/n8n/src/nodes/AgentMailbox/zoned-time.ts';
import { runNode } from './n8n-host.ts';
import { type N8nWorld, n8nWorld } from './n8n-world.ts';

let world: N8nWorld;
before(async () => {
  world = await n8nWorld();
});
after(() => world?.close());

describe('the package', () => {
  const json = (file: string): Fields => JSON.parse(readFileSync(path.join(world.folder, file), 'utf8')) as Fields;

  test('has what n8n asks of a community node', () => {
    const { manifest } = world.nodes;
    assert.match(String(manifest['name']), /^(?:@[^/]+\/)?n8n-nodes-[a-z-]+$/);
    assert.ok((manifest['keywords'] as string[]).includes('n8n-community-node-package'));
    assert.deepEqual([manifest['license'], manifest['type']], ['MIT', undefined]);
    assert.equal(typeof manifest['description'], 'string');
    assert.match(String(manifest['version']), /^\d+\.\d+\.\d+$/);
    assert.deepEqual(manifest['files'], ['dist', 'examples']);
    assert.deepEqual(manifest['peerDependencies'], { 'n8n-workflow': '*' });
    assert.deepEqual(manifest['peerDependenciesMeta'], { 'n8n-workflow': { optional: true } });
    for (const name of ['dependencies', 'scripts', 'overrides', 'private'])
      assert.equal(manifest[name], undefined, name);
    assert.equal(at(manifest, 'n8n', 'n8nNodesApiVersion'), 1);
    for (const file of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) {
      assert.match(file, /^dist\/.+\.(?:node|credentials)\.js$/);
      assert.ok(existsSync(path.join(world.folder, file)), file);
    }
    for (const file of ['README.md', 'LICENSE']) assert.ok(existsSync(path.join(world.folder, file)), file);
    const built = globSync('dist/**/*.js', { cwd: world.folder });
    const imports = built.flatMap((file) =>
      [
        ...readFileSync(path.join(world.folder, file), 'utf8').matchAll(/\b(?:require|import)\(["']([^"']+)["']\)/g),
      ].map(([, name = '']) => name),
    );
    assert.deepEqual([...new Set(imports.filter((name) => !name.startsWith('.')))], ['node:crypto']);
    // n8n gives its nodes no timers and no process.
    for (const file of built)
      assert.doesNotMatch(
        readFileSync(path.join(world.folder, file), 'utf8'),
        /\b(?:setTimeout|setInterval|setImmediate|globalThis)\b|\bprocess\./,
        file,
      );
  });

  test('names its nodes, credential and icons as n8n expects', () => {
    const { action, credential, trigger } = world.nodes;
    assert.deepEqual([credential.name, credential.constructor.name], ['agentMailboxApi', 'AgentMailboxApi']);
    const secret = credential.properties.find(({ name }) => name === 'secret');
    assert.equal(secret?.typeOptions?.['password'], true);
    for (const { description, constructor } of [action, trigger]) {
      assert.equal(description.name, constructor.name[0]?.toLowerCase() + constructor.name.slice(1));
      assert.deepEqual(description.credentials, [{ name: credential.name, required: true }]);
      const codex = json(`dist/nodes/AgentMailbox/${constructor.name}.node.json`);
      assert.equal(codex['node'], `${String(world.nodes.manifest['name'])}.${description.name}`);
      for (const { name, options = [], type } of description.properties) {
        assert.ok(/^[a-z][A-Za-z]+$/.test(name), name);
        const names = options.map((each) => ('value' in each ? each.name : each.displayName));
        if (type !== 'collection') assert.deepEqual(names, names.toSorted(), `options of ${name} are in order`);
      }
    }
    assert.deepEqual([trigger.description.inputs, trigger.description.group], [[], ['trigger']]);
    assert.match(trigger.description.displayName, /Trigger$/);
    const icons = [
      ...Object.values(credential.icon).map((icon) => ['dist/credentials', icon] as const),
      ...[action, trigger].flatMap(({ description }) =>
        Object.values(description.icon).map((icon) => ['dist/nodes/AgentMailbox', String(icon)] as const),
      ),
    ];
    assert.equal(new Set(icons.map(([, icon]) => path.basename(icon))).size, 2);
    for (const [from, icon] of icons)
      assert.match(readFileSync(path.join(world.folder, from, icon.replace('file:', '')), 'utf8'), /^<svg /);
  });

  test('its credential is accepted by what n8n asks to test it, as a key and as a token', async () => {
    const { mailbox } = world.service.organization;
    const { baseURL, url } = world.nodes.credential.test.request;
    // As the nodes do with what was pasted with a space or a line break.
    assert.equal(baseURL, '={{$credentials.url.trim()}}');
    const expression = /^=\{\{(.+) \? "(.+)" : "(.+)"\}\}$/.exec(url);
    assert.ok(expression !== null);
    const [, condition, forToken = '', forKey = ''] = expression;
    assert.equal(condition, '$credentials.secret.trim().startsWith("amt_")');
    for (const [secret, address] of [
      [world.withToken(mailbox).secret, forToken],
      [world.withKey().secret, forKey],
    ] as const) {
      const { headers = {} } = await world.nodes.credential.authenticate(
        { secret },
        { ...REQUEST, method: 'GET', url: address },
      );
      assert.equal((await world.service.call('GET', address, { as: headers })).status, 200);
    }
  });
});

const REQUEST = {
  returnFullResponse: true,
  ignoreHttpStatusErrors: true,
  disableFollowRedirect: true,
  timeout: 1,
} as const;
describe('the node', () => {
  let mailbox: TestMailbox;
  const run = async (resource: string, operation: string, parameters: Fields = {}, input?: Item[]): Promise<Item[]> =>
    runNode(world.nodes, {
      credentials: world.withToken(mailbox),
      parameters: { resource, operation, ...parameters },
      ...(input === undefined ? {} : { input }),
    });
  before(async () => {
    mailbox = await world.service.newMailbox(world.service.organization);
  });

  test('lists, searches, reads and waits for mail with its code', async () => {
    const since = new Date(Date.now() - 1_000).toISOString();
    await world.mailTo(mailbox, 'Sign in to Example', 'Your verification code is 482913.');
    const [waited] = await run('message', 'wait', {
      timeoutSeconds: 30,
      additionalFields: { since, subject: 'Sign in' },
    });
    assert.deepEqual(
      [waited?.json['otp'], waited?.json['timedOut'], waited?.pairedItem],
      ['482913', false, { item: 0 }],
    );
    const [listed, ...others] = await run('message', 'getAll', {
      limit: 5,
      additionalFields: { from: 'bob', unread: true },
    });
    assert.deepEqual([listed?.json['subject'], others.length], ['Sign in to Example', 0]);
    const messageId = listed?.json['id'];
    // The words of a message are indexed a moment after it arrived.
    const found = await waitUntil(
      'the message to be found',
      async () => (await run('message', 'search', { words: 'verification', limit: 5 }))[0],
    );
    assert.equal(found.json['id'], messageId);
    const [read] = await run('message', 'get', { messageId });
    assert.match(String(read?.json['text']), /482913/);
    assert.equal(at(read?.json, 'extracts', 'otp'), '482913');
    const [late] = await run('message', 'wait', { timeoutSeconds: 1, additionalFields: { subject: 'never' } });
    assert.equal(late?.json['timedOut'], true);
  });

  test('sends, replies and forwards with attachments; what waits for a person is held', async () => {
    await world.mailTo(mailbox, 'A question');
    const [question] = await run('message', 'getAll', { limit: 1 });
    const messageId = question?.json['id'];
    const input: Item[] = [
      {
        json: {},
        binary: {
          data: { data: Buffer.from('a,b\n1,2\n').toString('base64'), fileName: 'table.csv', mimeType: 'text/csv' },
        },
      },
    ];
    const additionalFields = { cc: 'Carl <carl@example.com>', attachments: 'data' };
    const [sent] = await run(
      'message',
      'send',
      { to: 'ann@example.com, b@example.com', subject: 'Hi', text: 'Hello', additionalFields },
      input,
    );
    assert.equal(sent?.json['held'], true);
    const consents = await world.service.call('GET', `/api/consents?mailboxId=${mailbox.id}`, {
      as: world.service.organization.key,
    });
    assert.match(consents.text, /ann@example\.com.*carl@example\.com/s);
    for (const [operation, fields] of [
      ['reply', { replyAll: true, text: 'Yes' }],
      ['forward', { to: 'ann@example.com', text: 'See below' }],
    ] as const)
      assert.equal((await run('message', operation, { messageId, ...fields }))[0]?.json['held'], true);
  });

  test('takes a time without a zone as one of the time zone of the workflow', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const [sent] = await runNode(world.nodes, {
      credentials: world.withToken(mailbox),
      parameters: {
        resource: 'message',
        operation: 'send',
        to: mailbox.address,
        subject: 'Tomorrow',
        additionalFields: { sendAt: `${tomorrow}T10:00:00` },
      },
      timezone: 'Asia/Tokyo',
    });
    assert.equal(sent?.json['sendAt'], `${tomorrow}T01:00:00.000Z`);
    for (const [given, zone, expected] of [
      ['2026-07-01T10:00:00', 'Europe/Berlin', '2026-07-01T08:00:00.000Z'],
      ['2026-12-01 10:00', 'Europe/Berlin', '2026-12-01T09:00:00.000Z'],
      ['2026-10-25T00:30:00', 'Europe/Berlin', '2026-10-24T22:30:00.000Z'],
      ['2026-03-08T03:30:00', 'America/New_York', '2026-03-08T07:30:00.000Z'],
      ['2026-12-01', 'Asia/Kolkata', '2026-11-30T18:30:00.000Z'],
      ['2026-12-01T10:00:00', 'UTC', '2026-12-01T10:00:00.000Z'],
      ['2026-12-01T10:00:00+02:00', 'Asia/Tokyo', '2026-12-01T08:00:00.000Z'],
      ['2026-12-01T10:00:00Z', 'Asia/Tokyo', '2026-12-01T10:00:00.000Z'],
      ['soon', 'Asia/Tokyo', 'soon'],
    ] as const)
      assert.equal(asTime(given, zone), expected, `${given} in ${zone}`);
  });

  test('creates, reads, lists, sends and deletes drafts', async () => {
    const input: Item[] = [
      {
        json: {},
        binary: {
          file: { data: Buffer.from('name: x').toString('base64'), fileName: 'x.txt', mimeType: 'text/plain' },
        },
      },
    ];
    const additionalFields = { attachments: 'file' };
    const [draft] = await run(
      'draft',
      'create',
      { to: 'ann@example.com', subject: 'Draft', text: 'One', additionalFields },
      input,
    );
    const draftId = draft?.json['id'];
    assert.equal((await run('draft', 'get', { draftId }))[0]?.json['subject'], 'Draft');
    assert.deepEqual(
      (await run('draft', 'getAll', { limit: 10 })).map(({ json }) => json['id']),
      [draftId],
    );
    assert.equal((await run('draft', 'send', { draftId }))[0]?.json['held'], true);
    const [second] = await run('draft', 'create', { subject: 'Two' });
    assert.deepEqual((await run('draft', 'delete', { draftId: second?.json['id'] }))[0]?.json, {
      id: second?.json['id'],
      deleted: true,
    });
  });

  test('downloads an attachment as a binary field, and reads its text', async () => {
    const parts = [
      'From: bob@example.com',
      'Subject: With a file',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'See the file.',
      '--b',
      'Content-Type: text/csv; name="Größe.csv"',
      'Content-Disposition: attachment; filename="sizes.csv"',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('a,b\n1,2\n').toString('base64'),
      '--b--',
      '',
    ];
    assert.match(await world.service.deliver(mailbox.address, parts.join('\r\n')), /^250/);
    const [message] = await run('message', 'getAll', { limit: 1 });
    const attachmentId = textAt(message?.json, 'attachments', 0, 'id');
    const place = { messageId: message?.json['id'], attachmentId };
    const [file] = await run('attachment', 'download', { ...place, binaryField: 'file' });
    assert.deepEqual(file?.binary?.['file'], {
      data: Buffer.from('a,b\n1,2\n').toString('base64'),
      fileName: 'sizes.csv',
      mimeType: 'text/csv',
    });
    const [text] = await run('attachment', 'getText', place);
    assert.match(JSON.stringify(text?.json), /1/);
    await assert.rejects(
      run('attachment', 'download', { ...place, attachmentId: '9', binaryField: 'file' }),
      /no attachment 9/,
    );
  });

  test('with a key the mailbox is chosen, and a failure is an item if the node continues', async () => {
    const parameters = {
      resource: 'message',
      operation: 'get',
      mailboxId: mailbox.id,
      messageId: 'msg_01k8e8f2c0e4x9w2v7a3r5t6y8',
    };
    const options = { credentials: world.withKey(), parameters };
    await assert.rejects(runNode(world.nodes, options), /not_found/);
    const input = [{ json: {} }, { json: {} }];
    const failed = await runNode(world.nodes, { ...options, input, continueOnFail: true });
    assert.deepEqual(
      failed.map(({ json, pairedItem }) => [String(json['error']).slice(0, 9), pairedItem?.item]),
      [
        ['not_found', 0],
        ['not_found', 1],
      ],
    );
    await assert.rejects(
      runNode(world.nodes, { ...options, parameters: { ...parameters, mailboxId: '' } }),
      /Choose a mailbox/,
    );
  });
});

/** The value of a field of the example: a text, or one of the two forms of expression that it uses. */
function valueOf(given: unknown, current: Fields, outputs: ReadonlyMap<string, Fields>): unknown {
  if (typeof given !== 'string' || !given.startsWith('=')) return given;
  const [, name, steps] = /^=\{\{ (?:\$json|\$\('([^']+)'\)\.item\.json)\.([\w.]+) \}\}$/.exec(given) ?? [];
  assert.ok(steps !== undefined, given);
  return at(name === undefined ? current : outputs.get(name), ...steps.split('.'));
}

test('the example answers a mail, with a model that follows a script', async () => {
  const file = fileURLToPath(new URL('../../integrations/n8n/examples/answer-mail.json', import.meta.url));
  const example = JSON.parse(readFileSync(file, 'utf8')) as {
    nodes: { name: string; type: string; parameters: Fields }[];
    connections: Record<string, Record<string, [[{ node: string }]]>>;
  };
  const nodeOf = (name: string | undefined) => example.nodes.find((each) => each.name === name);
  const first = nodeOf('Agent Mailbox Trigger');
  assert.ok(first !== undefined);
  const mailbox = await world.service.newMailbox(world.service.organization);
  const workflow = world.n8n.workflow('example', world.withKey(), { ...first.parameters, mailboxId: mailbox.id });
  await workflow.activate();
  await world.mailTo(mailbox, 'Time', 'What time is it?');
  await waitUntil('the mail', () => workflow.executions.length > 0);
  let current = at(workflow.executions, 0, 0) as Fields;
  const outputs = new Map([[first.name, current]]);
  for (let name: string | undefined = first.name; ; ) {
    name = example.connections[name]?.['main']?.[0][0].node;
    const node = nodeOf(name);
    if (name === undefined || node === undefined) break;
    const filled = Object.entries(node.parameters).map(([field, given]) => [field, valueOf(given, current, outputs)]);
    const parametersOf = Object.fromEntries(filled) as Fields;
    if (node.type.startsWith('n8n-nodes-agent-mailbox.')) {
      const [output] = await runNode(world.nodes, { credentials: world.withKey(), parameters: parametersOf });
      current = output?.json ?? {};
    } else {
      // The script of the model: it answers what it was asked.
      assert.match(String(parametersOf['text']), /What time is it\?/);
      current = { output: 'It is noon.' };
    }
    outputs.set(name, current);
  }
  assert.equal(outputs.get('Reply')?.['held'], true);
  const { body } = await world.service.call('GET', `/api/consents?mailboxId=${mailbox.id}`, {
    as: world.service.organization.key,
  });
  assert.deepEqual([at(body, 'data', 'length'), textAt(body, 'data', 0, 'preview').trim()], [1, 'It is noon.']);
  await workflow.deactivate();
});
