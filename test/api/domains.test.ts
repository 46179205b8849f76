import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openMailNotifier } from '#mailstore/changes/notifier.ts';
import { type ApiWorld, apiWorld, at, errorCode, textAt } from '#test/support/api-world.ts';
import type { DnsRecord } from '#test/support/dns-server.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let world: ApiWorld;
before(async () => {
  world = await apiWorld();
});
after(() => world.close());

type Shown = DnsRecord & { readonly purpose: string; readonly status: string };

const add = (name: string, organization = world.organization) =>
  world.call('POST', '/api/domains', { as: organization.key, body: { name } });
const verify = (id: string, organization = world.organization) =>
  world.call('POST', `/api/domains/${id}/verify`, { as: organization.key });
const records = (body: unknown) => at(body, 'records') as Shown[];
const statuses = (body: unknown) => Object.fromEntries(records(body).map(({ purpose, status }) => [purpose, status]));

test('a domain answers the records to set, each in the zone file too', async () => {
  const { body } = await add('Shop.Example.');
  assert.equal(at(body, 'name'), 'shop.example');
  assert.deepEqual(statuses(body), {
    ownership: 'pending',
    mx: 'pending',
    spf: 'pending',
    dkim: 'pending',
    dmarc: 'pending',
    tls_rpt: 'pending',
    imaps: 'pending',
    pop3s: 'pending',
    submissions: 'pending',
    submission: 'pending',
  });
  const zone = textAt(body, 'zoneFile');
  for (const { name, type } of records(body)) assert.ok(zone.includes(`${name}. 3600 IN ${type} `), zone);
  assert.ok(
    zone.split('\n').every((line) => [...line.matchAll(/"([^"]*)"/g)].every(([, text = '']) => text.length <= 255)),
  );
});

test('with all records set the domain is verified and its pending mailboxes become active', async () => {
  const { body } = await add('ready.example');
  const id = textAt(body, 'id');
  const mailbox = await world.call('POST', '/api/mailboxes', {
    as: world.organization.key,
    body: { localPart: 'desk', domain: 'ready.example' },
  });
  assert.deepEqual([at(mailbox.body, 'status'), at(mailbox.body, 'syncStatus')], ['pending', 'pending']);
  world.dns.records = records(body);
  const verified = await verify(id);
  assert.equal(at(verified.body, 'status'), 'verified');
  assert.deepEqual(new Set(Object.values(statuses(verified.body))), new Set(['found']));
  const path = `/api/mailboxes/${textAt(mailbox.body, 'id')}`;
  const active = await world.call('GET', path, { as: world.organization.key });
  assert.deepEqual([at(active.body, 'status'), at(active.body, 'syncStatus')], ['active', 'synced']);
  world.dns.records = [];
  const later = await verify(id);
  assert.equal(at(later.body, 'status'), 'verified', 'a hiccup of DNS must not stop mail');
  assert.equal(statuses(later.body)['mx'], 'missing');
});

test('missing and wrong records are distinguished, and optional ones are not needed', async () => {
  const { body } = await add('partly.example');
  const id = textAt(body, 'id');
  world.dns.records = records(body)
    .filter(({ purpose }) => purpose === 'ownership')
    .concat([
      { purpose: 'mx', status: '', type: 'MX', name: 'partly.example', value: '10 mx.elsewhere.example' },
      {
        purpose: 'spf',
        status: '',
        type: 'TXT',
        name: 'partly.example',
        value: 'v=spf1 include:elsewhere.example -all',
      },
      { purpose: 'dmarc', status: '', type: 'TXT', name: '_dmarc.partly.example', value: 'v=DMARC1; p=reject' },
      {
        purpose: 'imaps',
        status: '',
        type: 'SRV',
        name: '_imaps._tcp.partly.example',
        value: '0 1 993 elsewhere.example',
      },
      { purpose: 'pop3s', status: '', type: 'SRV', name: '_pop3s._tcp.partly.example', value: '5 1 1995 Mail.Test' },
      {
        purpose: 'submissions',
        status: '',
        type: 'SRV',
        name: '_submissions._tcp.partly.example',
        value: `5 1 ${world.services.settings.SUBMISSIONS_PORT} Mail.Test`,
      },
    ]);
  const answer = await verify(id);
  assert.equal(at(answer.body, 'status'), 'failed');
  assert.deepEqual(statuses(answer.body), {
    ownership: 'found',
    mx: 'wrong',
    spf: 'wrong',
    dkim: 'missing',
    dmarc: 'found',
    tls_rpt: 'missing',
    imaps: 'wrong',
    pop3s: 'wrong',
    submissions: 'found',
    submission: 'missing',
  });
  world.dns.records = records(body).filter(({ purpose }) => purpose === 'ownership' || purpose === 'mx');
  assert.equal(at((await verify(id)).body, 'status'), 'verified');
});

test('when DNS does not answer nothing is concluded', async () => {
  const id = textAt((await add('silent.example')).body, 'id');
  world.dns.silent = true;
  try {
    const answer = await verify(id);
    assert.equal(at(answer.body, 'status'), 'pending');
    assert.equal(statuses(answer.body)['mx'], 'pending');
  } finally {
    world.dns.silent = false;
  }
});

test('the first organization to prove a domain gets it, and squatted addresses are released', async () => {
  const squatter = textAt((await add('contested.example', world.other)).body, 'id');
  const squatted = await world.call('POST', '/api/mailboxes', {
    as: world.other.key,
    body: { localPart: 'desk', domain: 'contested.example' },
  });
  const notifier = openMailNotifier(world.services);
  let wakes = 0;
  const unwatch = notifier.watchMailbox(textAt(squatted.body, 'id'), () => wakes++);
  await waitUntil('the notifier to listen', () => wakes === 1);
  const { body } = await add('contested.example');
  world.dns.records = records(body);
  assert.equal(at((await verify(textAt(body, 'id'))).body, 'status'), 'verified');
  // Its sessions read the row again, and end.
  await waitUntil('the notification about the squatted mailbox', () => wakes === 2);
  unwatch();
  await notifier.close();
  assert.equal(at((await verify(squatter, world.other)).body, 'status'), 'failed');
  const mailbox = await world.call('POST', '/api/mailboxes', {
    as: world.organization.key,
    body: { localPart: 'desk', domain: 'contested.example' },
  });
  assert.equal(mailbox.status, 201, mailbox.text);
  assert.equal(at(mailbox.body, 'status'), 'active');
});

test('the domain of the instance, its subdomains and things that are no domain are refused', async () => {
  for (const name of [
    'agents.test',
    'AGENTS.test',
    'x.agents.test',
    'localhost',
    '10.0.0.1',
    'a b.example',
    '-a.example',
  ])
    assert.equal(errorCode(await add(name)), 'invalid_request', name);
});

test('an international name is kept in its ASCII form', async () => {
  assert.equal(at((await add('bücher.example')).body, 'name'), 'xn--bcher-kva.example');
});

test('a domain without mailboxes can be deleted and added again', async () => {
  const id = textAt((await add('gone.example')).body, 'id');
  assert.equal((await world.call('DELETE', `/api/domains/${id}`, { as: world.organization.key })).status, 204);
  assert.equal((await world.call('GET', `/api/domains/${id}`, { as: world.organization.key })).status, 404);
  assert.equal((await add('gone.example')).status, 201);
});

test('an older domain answers the current records, with the results of unchanged ones', async () => {
  const { body } = await add('older.example');
  const id = textAt(body, 'id');
  world.dns.records = records(body);
  await verify(id);
  // As an earlier version stored them, for a host of another name and without records for mail clients.
  await world.services.db.query(
    `update domains set records = (
       select jsonb_agg(case when r ->> 'purpose' = 'mx' then r || '{"value": "10 old.example.net"}' else r end)
         from jsonb_array_elements(records) as r where r ->> 'purpose' not like '%s') where id = $1`,
    [id],
  );
  const now = await world.call('GET', `/api/domains/${id}`, { as: world.organization.key });
  assert.deepEqual(
    records(now.body).map(({ purpose }) => purpose),
    records(body).map(({ purpose }) => purpose),
  );
  assert.deepEqual([statuses(now.body)['mx'], statuses(now.body)['dkim']], ['pending', 'found']);
  assert.deepEqual(new Set(Object.values(statuses((await verify(id)).body))), new Set(['found']));
});

test('the domain of the instance answers its records, with the key that signs its mail', async () => {
  const get = () => world.call('GET', '/api/domains/default', { as: world.organization.key });
  const { body } = await get();
  const { MAIL_DOMAIN } = world.services.settings;
  assert.equal(at(body, 'name'), MAIL_DOMAIN);
  const dkim = records(body).find(({ purpose }) => purpose === 'dkim');
  const [key] = await world.services.db.query<{ selector: string; public_key: string }>(
    `select selector, public_key from dkim_key where domain = $1`,
    [MAIL_DOMAIN],
  );
  assert.equal(dkim?.name, `${key?.selector}._domainkey.${MAIL_DOMAIN}`);
  assert.equal(dkim?.value, `v=DKIM1; k=rsa; p=${key?.public_key}`);
  assert.ok(!JSON.stringify(body).includes('PRIVATE'));
  world.dns.records = records(body);
  assert.deepEqual(new Set(Object.values(statuses((await get()).body))), new Set(['found']));
});
