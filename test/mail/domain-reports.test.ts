/** Reports of other hosts arrive by SMTP, are added up, and nothing else gets in by their addresses. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { crc32, gzipSync } from 'node:zlib';
import { summarizeDomainReports } from '#core/mailboxes/domain-reports.ts';
import { newId } from '#core/platform/new-id.ts';
import { REPORT_UNPACKED_MAX_BYTES, REPORTS_PER_HOUR_MAX } from '#domain/mail/domain-reports.ts';
import { ROLE_MAIL_MAX_BYTES } from '#domain/mail/mailbox-address.ts';
import { deleteHistory } from '#test/support/delete-history.ts';
import { dnsStub, type MailWorld, openMailWorld } from '#test/support/mail-world.ts';

const DAY_MS = 86_400_000;
/** The sender of all reports here; `unknown.example` has no SPF record. */
const SPF = { 'reporter.example': 'v=spf1 ip4:127.0.0.1 -all' };

let world: MailWorld;
let other: string;

const sql = (text: string, values: unknown[] = []) => world.services.db.query<Record<string, string>>(text, values);

async function owner(organizationId: string, email: string): Promise<void> {
  const userId = newId('user');
  await sql(`insert into users (id, email, name, password_hash) values ($1, $2, 'A person', '')`, [userId, email]);
  await sql(`insert into members (id, organization_id, user_id, role) values ($1, $2, $3, 'owner')`, [
    newId('member'),
    organizationId,
    userId,
  ]);
}

before(async () => {
  world = await openMailWorld({ lookup: dnsStub(SPF) });
  await owner(world.organizationId, 'first@example.com');
  other = newId('organization');
  await sql(`insert into organizations (id, name, slug, plan) values ($1, 'Other', 'other', 'unlimited')`, [other]);
  await sql(
    `insert into domains (id, organization_id, name, status, verification_token, dkim_selector, dkim_public_key, dkim_private_key_sealed)
     values ($1, $2, 'own.example', 'verified', 'x', 'x', 'x', 'x')`,
    [newId('domain'), other],
  );
  await owner(other, 'other@example.com');
});
after(() => world?.close());

const seconds = (ms: number): number => Math.floor(ms / 1_000);

interface Row {
  readonly address: string;
  readonly count: number;
  readonly result: 'pass' | 'fail';
  readonly disposition?: 'none' | 'quarantine' | 'reject';
}

const row = ({ address, count, result, disposition = 'none' }: Row): string =>
  `<record><row><source_ip>${address}</source_ip><count>${count}</count><policy_evaluated><disposition>${disposition}</disposition><dkim>${result}</dkim><spf>fail</spf></policy_evaluated></row><identifiers><header_from>own.example</header_from></identifiers></record>`;

const dmarcXml = (domain: string, id: string, rows: readonly Row[], agoMs = DAY_MS): string =>
  `<?xml version="1.0"?><feedback><report_metadata><org_name>Reporter</org_name><report_id>${id}</report_id><date_range><begin>${seconds(Date.now() - agoMs)}</begin><end>${seconds(Date.now() - agoMs) + 3_600}</end></date_range></report_metadata><policy_published><domain>${domain}</domain><p>none</p></policy_published>${rows.map(row).join('')}</feedback>`;

const tlsJson = (domain: string, id: string): string =>
  JSON.stringify({
    'organization-name': 'Reporter',
    'date-range': {
      'start-datetime': new Date(Date.now() - DAY_MS).toISOString(),
      'end-datetime': new Date().toISOString(),
    },
    'report-id': id,
    policies: [
      {
        policy: { 'policy-type': 'sts', 'policy-domain': domain },
        summary: { 'total-successful-session-count': 40, 'total-failure-session-count': 2 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'receiving-mx-hostname': 'MX.Own.Example',
            'failed-session-count': 2,
          },
        ],
      },
    ],
  });

/** A report as its mail. */
const mailOf = (file: Buffer, type = 'application/gzip', name = 'report.xml.gz'): string =>
  [
    'From: reports@reporter.example',
    'Subject: Report Domain: own.example',
    `Message-ID: <${Math.random()}@reporter.example>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'This is a report.',
    '--b',
    `Content-Type: ${type}; name="${name}"`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="${name}"`,
    '',
    file.toString('base64').replace(/.{76}/g, '$&\n'),
    '--b--',
    '',
  ].join('\n');

const send = (to: string, file: Buffer, type?: string, name?: string): Promise<string> =>
  world.send(to, mailOf(file, type, name), 'reports@reporter.example');

const summary = async (organizationId: string | null, days = 30) =>
  summarizeDomainReports(world.services.db, organizationId, { days, nowMs: Date.now() });

/** A ZIP archive with one stored file (APPNOTE 4.3). */
function zipOf(name: string, content: Buffer): Buffer {
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(crc32(content));
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(content.length, 0);
  sizes.writeUInt32LE(content.length, 4);
  const nameLength = Buffer.from([name.length, 0]);
  const shared = Buffer.concat([Buffer.from([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]), crc, sizes, nameLength, Buffer.alloc(2)]);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, Buffer.from(name), content]);
  const central = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
    shared,
    Buffer.alloc(14),
    Buffer.from(name),
  ]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

test('DMARC and TLS reports in every packing are added up for the organization of the domain, each once', async () => {
  const first = [
    { address: '192.0.2.1', count: 5, result: 'pass' },
    { address: '198.51.100.7', count: 3, result: 'fail', disposition: 'reject' },
  ] as const;
  const zipped = dmarcXml('own.example', 'r2', [{ address: '192.0.2.1', count: 10, result: 'pass' }]);
  const plain = dmarcXml('own.example', 'r3', [
    { address: '2001:db8::1', count: 2, result: 'fail', disposition: 'quarantine' },
  ]);
  const packed = gzipSync(dmarcXml('own.example', 'r1', first));
  assert.match(await send('dmarc@own.example', packed), /^250 .*report/);
  assert.match(
    await send('DMARC+x@Own.Example', zipOf('r.xml', Buffer.from(zipped)), 'application/zip', 'r.zip'),
    /^250 /,
  );
  assert.match(await send('dmarc@own.example', Buffer.from(plain), 'text/xml', 'r.xml'), /^250 /);
  assert.match(await send('dmarc@own.example', packed), /^250 /, 'a repetition is accepted');
  const tls = gzipSync(tlsJson('own.example', 't1'));
  assert.match(await send('tls-reports@own.example', tls, 'application/tlsrpt+gzip', 'r.json.gz'), /^250 /);

  assert.deepEqual(await summary(other), [
    {
      domain: 'own.example',
      dmarc: {
        reports: 3,
        reporters: ['reporter.example'],
        messages: 20,
        passed: 15,
        sources: [
          { address: '192.0.2.1', messages: 15, passed: 15, quarantined: 0, rejected: 0 },
          { address: '198.51.100.7', messages: 3, passed: 0, quarantined: 0, rejected: 3 },
          { address: '2001:db8::1', messages: 2, passed: 0, quarantined: 2, rejected: 0 },
        ],
      },
      tls: {
        reports: 1,
        reporters: ['reporter.example'],
        sessions: 42,
        failed: 2,
        failures: [{ type: 'certificate-expired', host: 'mx.own.example', sessions: 2 }],
      },
    },
  ]);
  assert.deepEqual(await summary(world.organizationId), [], 'another organization sees nothing of it');
  assert.deepEqual(await sql(`select 1 from message limit 1`), [], 'no mailbox gets a report');
});

test('reports about the domain of the instance are those of the first organization', async () => {
  const xml = dmarcXml('agents.test', 'i1', [{ address: '192.0.2.9', count: 1, result: 'pass' }]);
  assert.match(await send('dmarc@agents.test', gzipSync(xml)), /^250 /);
  assert.deepEqual(
    (await summary(world.organizationId)).map(({ domain }) => domain),
    ['agents.test'],
  );
  assert.deepEqual(
    (await summary(null)).map(({ domain }) => domain),
    ['agents.test', 'own.example'],
  );
});

test('what is no report, or about another domain, is refused with the reason and stores nothing', async () => {
  const counted = async () => (await sql(`select id from domain_report`)).length;
  const before = await counted();
  const xml = (rows: readonly Row[]) => Buffer.from(dmarcXml('own.example', 'bad', rows));
  const refusals: readonly (readonly [string, Buffer | string, RegExp])[] = [
    ['a letter', 'From: a@reporter.example\nSubject: Hello\n\nHello\n', /no attached report/],
    ['another domain', Buffer.from(dmarcXml('victim.example', 'f', [])), /not about the domain/],
    ['damaged packing', Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(40, 7)]), /unpacked/],
    ['a bomb', gzipSync(Buffer.alloc(REPORT_UNPACKED_MAX_BYTES + 1, 0x20)), /unpacked, or is too large/],
    ['deep XML', Buffer.from('<a>'.repeat(100_000)), /nested too deeply/],
    [
      'a long name with many children',
      Buffer.from(`<${'n'.repeat(1_000)}>${'<a/>'.repeat(100_000)}`),
      /too long a name/,
    ],
    ['entities', Buffer.from('<!DOCTYPE a [<!ENTITY b "c">]><feedback/>'), /entities/],
    ['no address', xml([{ address: 'not-an-address', count: 1, result: 'pass' }]), /no address or count/],
    ['too large a count', xml([{ address: '192.0.2.1', count: 1e12, result: 'pass' }]), /no address or count/],
    ['JSON of something else', Buffer.from('{"policies":[]}'), /no DMARC or TLS report/],
    ['damaged JSON', Buffer.from('{"policies":'), /damaged/],
  ];
  for (const [name, content, reason] of refusals) {
    const mail = typeof content === 'string' ? content : mailOf(content);
    const reply = await world.send('dmarc@own.example', mail, 'reports@reporter.example');
    assert.match(reply, /^554 5\.6\.0 /, name);
    assert.match(reply, reason, name);
  }
  const large = mailOf(Buffer.alloc(ROLE_MAIL_MAX_BYTES));
  assert.match(await world.send('dmarc@own.example', large, 'reports@reporter.example'), /^552 /);
  assert.equal(await counted(), before);
});

test('a report of a sender that SPF and DKIM do not confirm is refused', async () => {
  const report = gzipSync(dmarcXml('own.example', 'forged', []));
  assert.match(
    await world.send('dmarc@own.example', mailOf(report), 'reports@unknown.example'),
    /^550 5\.7\.26 .*SPF or DKIM/,
  );
});

test('an address for reports is the only recipient, and a suspended organization takes none', async () => {
  const client = await world.connect();
  await client.command('EHLO client.example');
  await client.command('MAIL FROM:<reports@reporter.example>');
  assert.match(await client.command('RCPT TO:<postmaster@own.example>'), /^250/);
  assert.match(await client.command('RCPT TO:<dmarc@own.example>'), /^452 4\.5\.3/);
  await client.command('RSET');
  await client.command('MAIL FROM:<reports@reporter.example>');
  assert.match(await client.command('RCPT TO:<dmarc@own.example>'), /^250/);
  assert.match(await client.command('RCPT TO:<abuse@own.example>'), /^452 4\.5\.3/);
  await client.command('RSET');
  await client.command('MAIL FROM:<reports@reporter.example>');
  assert.match(await client.command('RCPT TO:<dmarc@not-here.example>'), /^550/);
  client.close();
  await sql(
    `update organizations set suspended_at = now(), suspended_receive = 'defer', suspended_reason = 'test' where id = $1`,
    [other],
  );
  assert.match(await send('dmarc@own.example', gzipSync(dmarcXml('own.example', 's1', []))), /^450/);
  await sql(
    `update organizations set suspended_at = null, suspended_receive = null, suspended_reason = null where id = $1`,
    [other],
  );
});

test('an organization takes a limited number of reports in an hour, and they are deleted after 90 days', async () => {
  await sql(
    `insert into domain_report (id, organization_id, domain, kind, reporter, report_id, covers_from, covers_until, total, failed, details, received_at)
     select 'drp_' || n, $1, 'own.example', 'dmarc', 'flood.example', n, now(), now(), 0, 0, '[]', now()
       from generate_series(1, $2::int) n`,
    [other, REPORTS_PER_HOUR_MAX],
  );
  assert.match(await send('dmarc@own.example', gzipSync(dmarcXml('own.example', 'late', []))), /^451 4\.7\.1/);
  await sql(`update domain_report set received_at = now() - interval '91 days' where reporter = 'flood.example'`);
  await deleteHistory(world.services);
  assert.deepEqual(await sql(`select 1 from domain_report where reporter = 'flood.example'`), []);
  assert.equal((await summary(other))[0]?.dmarc?.reports, 3);
});
