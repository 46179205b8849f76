/** The MTA-STS policy of the domains served here: at their hosts alone, with its records and what doctor says of it. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { certificateNames, servedNames } from '#core/certificates/acme-orders.ts';
import { checkRecords } from '#core/mailboxes/domain-records.ts';
import { stsPolicy, stsRecords } from '#core/mailboxes/mta-sts.ts';
import { dnsFindings, instanceRecords, otherPolicy, stsProblem } from '#core/process/diagnosis/dns-findings.ts';
import { needsAttention } from '#core/process/diagnosis/finding.ts';
import { type ApiWorld, apiWorld, at, textAt } from '#test/support/api-world.ts';
import { testSettings } from '#test/support/services.ts';

const DOMAIN = 'agents.example';
const POLICY = 'version: STSv1\r\nmode: testing\r\nmx: mail.agents.example\r\nmax_age: 86400\r\n';
const NAMES = {
  MAIL_DOMAIN: DOMAIN,
  MAIL_HOSTNAME: 'mail.agents.example',
  API_PUBLIC_URL: 'https://api.agents.example',
};

let world: ApiWorld;
before(async () => {
  world = await apiWorld({ ...NAMES, MTA_STS_MODE: 'testing', API_TRUSTED_PROXIES: '0' });
});
after(() => world?.close());
beforeEach(() => {
  world.dns.records = [];
});

/** What a host that asks at this name gets. */
function policyAt(
  host: string,
): Promise<readonly [status: number | undefined, type: string | undefined, body: string]> {
  const { hostname, port } = new URL(world.api.url);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path: '/.well-known/mta-sts.txt', headers: { host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        body += part;
      });
      response.on('end', () => resolve([response.statusCode, response.headers['content-type'], body]));
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('the policy is served at its host, and at no other', async () => {
  const [status, type, body] = await policyAt('MTA-STS.agents.example');
  assert.deepEqual([status, body], [200, POLICY]);
  assert.match(type ?? '', /^text\/plain/);
  assert.equal(stsProblem(body, 'mail.agents.example'), undefined);
  for (const host of ['api.agents.example', 'mta-sts.other.example', 'mta-sts.agents.example.other.example'])
    assert.equal((await policyAt(host))[0], 404, host);
});

test('its records are among those of the domain, and the id changes with the policy', async () => {
  const { body } = await world.call('GET', '/api/domains/default', { as: world.organization.key });
  const shown = at(body, 'records') as { purpose: string; type: string; name: string; value: string }[];
  const [host, announced] = shown.slice(-2);
  assert.deepEqual(
    [host?.purpose, host?.type, host?.name, host?.value],
    ['mta_sts_host', 'CNAME', `mta-sts.${DOMAIN}`, 'api.agents.example'],
  );
  assert.deepEqual([announced?.purpose, announced?.name], ['mta_sts', `_mta-sts.${DOMAIN}`]);
  assert.match(announced?.value ?? '', /^v=STSv1; id=[0-9a-f]{20}$/);
  const idOf = (changed: Record<string, string>) =>
    stsRecords(testSettings({ ...NAMES, ...changed }), DOMAIN)[1]?.value;
  assert.equal(idOf({ MTA_STS_MODE: 'testing' }), announced?.value);
  assert.notEqual(idOf({ MTA_STS_MODE: 'enforce' }), announced?.value);
  assert.notEqual(idOf({ MTA_STS_MODE: 'testing', MAIL_HOSTNAME: 'mx.agents.example' }), announced?.value);
  assert.deepEqual(stsRecords(testSettings(NAMES), DOMAIN), []);
  assert.equal(stsPolicy(testSettings(NAMES)), undefined);
  assert.ok(!instanceRecords(testSettings(NAMES), undefined).some(({ purpose }) => purpose === 'mta_sts'));
});

test('DNS may have an alias or the same address, one announcement, and its newest id', async () => {
  const [host, announced] = stsRecords(world.services.settings, DOMAIN);
  assert.ok(host && announced);
  const states = async (records: ApiWorld['dns']['records']) => {
    world.dns.records = records;
    return (await checkRecords(world.services.settings, [host, announced])).map(({ status }) => status);
  };
  const alias = { type: 'CNAME', name: host.name, value: host.value } as const;
  const txt = { type: 'TXT', name: announced.name, value: announced.value } as const;
  assert.deepEqual(await states([alias, txt]), ['found', 'found']);
  assert.deepEqual(await states([]), ['missing', 'missing']);
  const address = (name: string, value: string) => ({ type: 'A', name, value }) as const;
  const api = address('api.agents.example', '203.0.113.7');
  assert.deepEqual(await states([api, address(host.name, '203.0.113.7')]), ['found', 'missing']);
  assert.deepEqual(await states([api, address(host.name, '203.0.113.8')]), ['wrong', 'missing']);
  assert.deepEqual(await states([alias, { ...txt, value: 'v=STSv1; id=20200101' }]), ['found', 'wrong']);
  assert.deepEqual(await states([alias, txt, { ...txt, value: 'v=STSv1; id=1' }]), ['found', 'wrong']);
});

test('a verified domain of an organization has the policy, its records, and a certificate when DNS leads here', async () => {
  const { body } = await world.call('POST', '/api/domains', {
    as: world.organization.key,
    body: { name: 'shop.example' },
  });
  const records = at(body, 'records') as { purpose: string; type: 'TXT'; name: string; value: string }[];
  assert.deepEqual(
    records.slice(-2).map(({ purpose, name }) => [purpose, name]),
    [
      ['mta_sts_host', 'mta-sts.shop.example'],
      ['mta_sts', '_mta-sts.shop.example'],
    ],
  );
  assert.equal((await policyAt('mta-sts.shop.example'))[0], 404, 'it is not verified');
  const acme = {
    ...NAMES,
    ACME_DIRECTORY: 'https://ca.example/directory',
    API_TLS_PORT: '8443',
    MTA_STS_MODE: 'testing',
  };
  const hasName = async () =>
    (await servedNames(world.services.db, testSettings(acme))).includes('mta-sts.shop.example');
  const verify = () => world.call('POST', `/api/domains/${textAt(body, 'id')}/verify`, { as: world.organization.key });
  world.dns.records = records.filter(({ purpose }) => purpose !== 'mta_sts_host');
  assert.equal(at((await verify()).body, 'status'), 'verified');
  assert.deepEqual([(await policyAt('mta-sts.shop.example'))[2], await hasName()], [POLICY, false]);
  world.dns.records = records;
  await verify();
  assert.equal(await hasName(), true);
});

test('doctor names the records that are missing, and a policy that is another one', async () => {
  const { settings } = world.services;
  const whats = (await dnsFindings(settings, undefined, [])).filter(needsAttention).map(({ what }) => what);
  for (const name of [`MTA-STS-HOST: mta-sts.${DOMAIN} CNAME`, `MTA-STS: _mta-sts.${DOMAIN} TXT`])
    assert.ok(
      whats.some((what) => what === `${name} does not exist.`),
      whats.join('\n'),
    );
  assert.equal(otherPolicy(POLICY.replaceAll('\r\n', '\n'), settings), undefined);
  assert.match(otherPolicy(POLICY.replace('testing', 'none'), settings) ?? '', /MTA_STS_MODE=testing/);
  assert.equal(otherPolicy(POLICY, testSettings(NAMES)), undefined, 'somebody else may serve one');
});

test('with ACME and TLS of the API its host has a certificate', () => {
  const acme = { ACME_DIRECTORY: 'https://ca.example/directory', API_TLS_PORT: '8443' };
  const names = (changed: Record<string, string>) => certificateNames(testSettings({ ...NAMES, ...acme, ...changed }));
  assert.ok(names({ MTA_STS_MODE: 'enforce' }).includes(`mta-sts.${DOMAIN}`));
  assert.ok(!names({ MTA_STS_MODE: 'enforce', API_TLS_PORT: '0' }).includes(`mta-sts.${DOMAIN}`));
  assert.ok(!names({}).includes(`mta-sts.${DOMAIN}`));
});
