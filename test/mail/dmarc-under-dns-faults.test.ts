/**
 * Whatever a sender does to the DNS of its own names, mail that fails p=reject or p=quarantine does not reach INBOX: it is
 * in Junk, or the client is to try again. A real name server that answers, loses or fails questions; the real listener.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { dnsLookup } from '#mail/smtp/dns-resolver.ts';
import { type DnsRecord, testDns } from '#test/support/dns-server.ts';
import { openMailWorld } from '#test/support/mail-world.ts';
import { storedMail } from '#test/support/stored-mail.ts';

const dns = await testDns();
/** Names with such a label get no answer, SERVFAIL, or their answer late. */
const FATES = ['lost', 'failed', 'slow'] as const;
dns.treat = (name) => FATES.find((fate) => name.split('.').includes(fate)) ?? 'answered';
/** Below, mail is refused when nothing aligned has passed in this time: a busy machine must answer in it, and lost names must not. */
const BUDGET_MS = 3_000;
/** Without the policy mail is taken. */
const POLICY_BUDGET_MS = 15_000;
const world = await openMailWorld({
  lookup: dnsLookup([dns.address], Date.now),
  senderCheckBudgets: { checkMs: BUDGET_MS, policyMs: POLICY_BUDGET_MS, alignmentMs: BUDGET_MS },
});
after(async () => {
  await world.close();
  await dns.close();
});

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'der' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const KEY = `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`;

const txt = (name: string, value: string): DnsRecord => ({ type: 'TXT', name, value });

/** A domain of nobody else, and what is sent in its name. */
interface Setting {
  /** Whose policy it is. */
  readonly organization: string;
  /** The domain in From: the organization's, or one below it that inherits. */
  readonly author: string;
  /** A domain of the attacker. */
  readonly evil: string;
}

interface Attack {
  readonly envelopeFrom?: (setting: Setting) => string;
  readonly records?: (setting: Setting) => readonly DnsRecord[];
  readonly from?: (setting: Setting) => string;
  /** Further header fields, each with its line break. */
  readonly header?: (setting: Setting) => string;
  /** Signs the message; `selector` and domain of the signature. */
  readonly sign?: (setting: Setting) => { readonly signingDomain: string; readonly selector: string };
  /** It is no fault of DNS but of the message: it fails under every policy. */
  readonly alwaysFails?: boolean;
  /** Only where the policy is inherited. */
  readonly inheritedOnly?: boolean;
}

const fakeSignature = (domain: string, selector: string): string =>
  `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=${selector};\r\n` +
  ` h=from:subject; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=${'A'.repeat(340)}==\r\n`;

const fakeArcSet = (i: number, domain: string): string =>
  `ARC-Seal: i=${i}; a=rsa-sha256; t=1700000000; cv=${i === 1 ? 'none' : 'pass'}; d=${domain}; s=lost; b=${'A'.repeat(340)}==\r\n` +
  `ARC-Message-Signature: i=${i}; a=rsa-sha256; c=relaxed/relaxed; d=${domain}; s=lost; h=from; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=${'A'.repeat(340)}==\r\n` +
  `ARC-Authentication-Results: i=${i}; mx.${domain}; dmarc=pass header.from=bank.example\r\n`;

/** Includes that each lead to the next; the last is lost or stays away. */
const includes = (domain: string, count: number, last: string): DnsRecord[] =>
  Array.from({ length: count }, (_, i) =>
    txt(i === 0 ? domain : `i${i}.${domain}`, `v=spf1 include:${i === count - 1 ? last : `i${i + 1}.${domain}`} -all`),
  );

const evilSender = ({ evil }: Setting): string => `x@${evil}`;
const ownSender = ({ author }: Setting): string => `x@${author}`;

const ATTACKS: Readonly<Record<string, Attack>> = {
  'no record of any other kind': {},
  'an SPF include that is lost, of another domain': {
    envelopeFrom: evilSender,
    records: ({ evil }) => [txt(evil, `v=spf1 include:lost.${evil} -all`)],
  },
  'a chain of SPF includes with a lost end, of another domain': {
    envelopeFrom: evilSender,
    records: ({ evil }) => includes(evil, 8, `lost.${evil}`),
  },
  'a long chain of slow SPF includes, of another domain': {
    envelopeFrom: evilSender,
    records: ({ evil }) => [
      txt(evil, `v=spf1 include:slow.${evil} -all`),
      ...includes(`slow.${evil}`, 9, `end.slow.${evil}`),
    ],
  },
  'a long chain of slow SPF includes, of the author': {
    envelopeFrom: ownSender,
    records: ({ author }) => [
      txt(author, `v=spf1 include:slow.${author} -all`),
      ...includes(`slow.${author}`, 9, `end.slow.${author}`),
    ],
  },
  'an SPF include that is lost, of the author': {
    envelopeFrom: ownSender,
    records: ({ author }) => [txt(author, `v=spf1 include:lost.${author} -all`)],
  },
  'an SPF include that fails, of the author': {
    envelopeFrom: ownSender,
    records: ({ author }) => [txt(author, `v=spf1 include:failed.${author} -all`)],
  },
  'more SPF includes than RFC 7208 allows': {
    envelopeFrom: ownSender,
    records: ({ author }) => [...includes(author, 14, `end.${author}`), txt(`end.${author}`, 'v=spf1 +all')],
  },
  'more void SPF lookups than RFC 7208 allows': {
    envelopeFrom: ownSender,
    records: ({ author }) => [txt(author, `v=spf1 a:v1.${author} a:v2.${author} a:v3.${author} a:v4.${author} +all`)],
  },
  'an SPF record that redirects to itself': {
    envelopeFrom: ownSender,
    records: ({ author }) => [txt(author, `v=spf1 redirect=${author}`)],
  },
  'SPF by MX hosts that are lost': {
    envelopeFrom: ownSender,
    records: ({ author }) => [
      txt(author, 'v=spf1 mx -all'),
      { type: 'MX', name: author, value: `10 lost.${author}` },
      { type: 'MX', name: author, value: `20 mx2.lost.${author}` },
    ],
  },
  'SPF by a PTR of the author': {
    envelopeFrom: ownSender,
    records: ({ author }) => [txt(author, `v=spf1 ptr:lost.${author} exists:%{i}.lost.${author} -all`)],
  },
  'a null sender with a HELO name that is lost': { envelopeFrom: () => '' },
  'a DKIM key of the author that is lost': {
    sign: ({ author }) => ({ signingDomain: author, selector: 'lost' }),
  },
  'a DKIM key of the author that fails': {
    sign: ({ author }) => ({ signingDomain: author, selector: 'failed' }),
  },
  'a DKIM key of the author that is slow': {
    sign: ({ author }) => ({ signingDomain: author, selector: 'slow' }),
  },
  'a DKIM key of another domain that is lost': {
    sign: ({ evil }) => ({ signingDomain: evil, selector: 'lost' }),
  },
  'a valid signature of another domain': {
    sign: ({ evil }) => ({ signingDomain: evil, selector: 'good' }),
    records: ({ evil }) => [txt(`good._domainkey.${evil}`, KEY)],
  },
  'two hundred signatures with lost keys': {
    header: ({ evil, author }) =>
      Array.from({ length: 200 }, (_, i) => fakeSignature(i % 2 === 0 ? evil : author, `s${i}.lost`)).join(''),
  },
  'thirty signatures with slow keys': {
    header: ({ evil }) => Array.from({ length: 30 }, (_, i) => fakeSignature(evil, `s${i}.slow`)).join(''),
  },
  'an ARC chain with lost keys that says dmarc=pass': {
    header: ({ evil }) => Array.from({ length: 20 }, (_, i) => fakeArcSet(20 - i, evil)).join(''),
  },
  'a second author whose policy is lost': {
    from: ({ author, evil }) => `x@lost.${evil}, Chief <chief@${author}>`,
  },
  'a second author who passes': {
    from: ({ author, evil }) => `Me <x@${evil}>, Chief <chief@${author}>`,
    envelopeFrom: evilSender,
    records: ({ evil }) => [txt(evil, 'v=spf1 ip4:127.0.0.1 -all'), txt(`_dmarc.${evil}`, 'v=DMARC1; p=reject')],
  },
  'a second From field': {
    from: ({ evil }) => `Me <x@${evil}>`,
    header: ({ author }) => `From: Chief <chief@${author}>\r\n`,
    envelopeFrom: evilSender,
    records: ({ evil }) => [txt(evil, 'v=spf1 ip4:127.0.0.1 -all')],
  },
  'authors of twenty domains': {
    from: ({ author, evil }) =>
      [...Array.from({ length: 20 }, (_, i) => `x@d${i}.${evil}`), `chief@${author}`].join(', '),
    alwaysFails: true,
  },
  'an address in an encoded word': {
    from: ({ author }) => `=?utf-8?q?chief=40${author}?=`,
  },
  'an address whose quoted string never ends': { from: ({ author }) => `"Chief chief@${author}` },
  'an address with a route': { from: ({ author, evil }) => `<@${evil}:chief@${author}>` },
  'an address with a comment that never ends': { from: ({ author }) => `chief@${author} (x@a.example` },
  'an author below the organization whose own record is lost': {
    inheritedOnly: true,
    from: ({ organization }) => `chief@lost.${organization}`,
  },
  'an author below the organization whose own record fails': {
    inheritedOnly: true,
    from: ({ organization }) => `chief@a.failed.${organization}`,
  },
};

const POLICIES = ['none', 'quarantine', 'reject'] as const;
let number = 0;

function settingOf(inherited: boolean): Setting {
  const organization = `bank${++number}.test`;
  return { organization, author: inherited ? `news.${organization}` : organization, evil: `evil${number}.test` };
}

async function messageOf(attack: Attack, setting: Setting): Promise<Buffer> {
  const from = attack.from?.(setting) ?? `Chief <chief@${setting.author}>`;
  const message = Buffer.from(
    `${attack.header?.(setting) ?? ''}From: ${from}\r\nTo: agent@agents.test\r\nSubject: Pay now\r\n` +
      `Message-ID: <${setting.evil}@${setting.author}>\r\n\r\nAt once.\r\n`,
  );
  const key = attack.sign?.(setting);
  if (key === undefined) return message;
  const { signatures } = await dkimSign(message, { ...key, privateKey, signatureData: [{ ...key, privateKey }] });
  return Buffer.concat([Buffer.from(signatures), message]);
}

const foldersOf = async (mailbox: Awaited<ReturnType<typeof world.createMailbox>>) => ({
  inbox: (await storedMail(world, mailbox)).length,
  junk: (await storedMail(world, mailbox, 'Junk')).length,
});

describe('mail that is not from its author', { concurrency: 24 }, () => {
  for (const [name, attack] of Object.entries(ATTACKS))
    for (const inherited of attack.inheritedOnly ? [true] : [false, true])
      for (const policy of POLICIES)
        it(`${name}; ${inherited ? 'inherited ' : ''}p=${policy}`, async () => {
          const setting = settingOf(inherited);
          const records = [
            txt(`_dmarc.${setting.organization}`, `v=DMARC1; p=${policy}`),
            ...(attack.records?.(setting) ?? []),
          ];
          dns.records = [...dns.records, ...records];
          const mailbox = await world.createMailbox(`dmarc-${number}`);
          const client = await world.connect();
          await client.command('EHLO lost.client.test');
          await client.command(`MAIL FROM:<${attack.envelopeFrom?.(setting) ?? evilSender(setting)}>`);
          await client.command(`RCPT TO:<${mailbox.address}>`);
          await client.command('DATA');
          const reply = await client.data(await messageOf(attack, setting));
          client.close();
          const { inbox, junk } = await foldersOf(mailbox);
          if (policy === 'none' && !attack.alwaysFails) {
            assert.match(reply, /^250 /);
            assert.deepEqual({ inbox, junk }, { inbox: 1, junk: 0 });
            return;
          }
          assert.equal(inbox, 0, reply);
          if (junk === 0) assert.match(reply, /^451 4\.7\.24 /);
          else assert.match(reply, /^250 /);
        });
});

/** What must still be taken. */
const GENUINE: Readonly<Record<string, Attack>> = {
  'SPF passes while the DKIM key is lost': {
    envelopeFrom: ownSender,
    records: ({ author }) => [txt(author, 'v=spf1 ip4:127.0.0.1 -all')],
    sign: ({ author }) => ({ signingDomain: author, selector: 'lost' }),
  },
  'DKIM passes while SPF is lost': {
    envelopeFrom: ownSender,
    records: ({ author }) => [txt(author, `v=spf1 include:lost.${author} -all`), txt(`good._domainkey.${author}`, KEY)],
    sign: ({ author }) => ({ signingDomain: author, selector: 'good' }),
  },
  'DKIM passes behind two hundred signatures with lost keys': {
    records: ({ author }) => [txt(`good._domainkey.${author}`, KEY)],
    header: ({ evil }) => Array.from({ length: 200 }, (_, i) => fakeSignature(evil, `s${i}.lost`)).join(''),
    sign: ({ author }) => ({ signingDomain: author, selector: 'good' }),
  },
};

describe('mail that is from its author', { concurrency: 8 }, () => {
  for (const [name, genuine] of Object.entries(GENUINE))
    for (const inherited of [false, true])
      it(`is taken: ${name}${inherited ? ', under an inherited policy' : ''}`, async () => {
        const setting = settingOf(inherited);
        dns.records = [
          ...dns.records,
          txt(`_dmarc.${setting.organization}`, 'v=DMARC1; p=reject'),
          ...(genuine.records?.(setting) ?? []),
        ];
        const mailbox = await world.createMailbox(`genuine-${number}`);
        const reply = await world.send(
          mailbox.address,
          await messageOf(genuine, setting),
          genuine.envelopeFrom?.(setting) ?? evilSender(setting),
        );
        assert.match(reply, /^250 /);
        assert.deepEqual(await foldersOf(mailbox), { inbox: 1, junk: 0 });
      });

  it('is taken where the lookup of the policy itself fails', async () => {
    const mailbox = await world.createMailbox('policy-lost');
    const setting = { organization: 'lost.test', author: 'lost.test', evil: 'evil-lost.test' };
    assert.match(await world.send(mailbox.address, await messageOf({}, setting), evilSender(setting)), /^250 /);
    assert.deepEqual(await foldersOf(mailbox), { inbox: 1, junk: 0 });
  });

  it('is asked for again, and taken when DNS is back', async () => {
    const setting = { organization: 'later.test', author: 'later.test', evil: 'evil-later.test' };
    const attack: Attack = {
      envelopeFrom: ownSender,
      sign: ({ author }) => ({ signingDomain: author, selector: 'later' }),
    };
    dns.records = [
      ...dns.records,
      txt('_dmarc.later.test', 'v=DMARC1; p=reject'),
      txt('later._domainkey.later.test', KEY),
    ];
    const mailbox = await world.createMailbox('later');
    const message = await messageOf(attack, setting);
    const { treat } = dns;
    dns.treat = (name) => (name === 'later._domainkey.later.test' ? 'failed' : treat(name));
    assert.match(await world.send(mailbox.address, message, 'x@later.test'), /^451 4\.7\.24 .*later\.test/);
    dns.treat = treat;
    assert.match(await world.send(mailbox.address, message, 'x@later.test'), /^250 /);
    assert.deepEqual(await foldersOf(mailbox), { inbox: 1, junk: 0 });
  });
});

describe('a policy for names that do not exist', { concurrency: 8 }, () => {
  for (const [name, record, expected] of [
    ['np=reject behind p=none', 'v=DMARC1; p=none; np=reject', { inbox: 0, junk: 1 }],
    ['sp=reject behind p=none', 'v=DMARC1; p=none; sp=reject', { inbox: 0, junk: 1 }],
    ['np=none behind p=reject', 'v=DMARC1; p=reject; np=none', { inbox: 1, junk: 0 }],
  ] as const)
    it(`is followed: ${name}`, async () => {
      const setting = settingOf(true);
      dns.records = [...dns.records, txt(`_dmarc.${setting.organization}`, record)];
      const mailbox = await world.createMailbox(`np-${number}`);
      const message = await messageOf({}, { ...setting, author: `ghost.${setting.organization}` });
      assert.match(await world.send(mailbox.address, message, evilSender(setting)), /^250 /);
      assert.deepEqual(await foldersOf(mailbox), expected);
    });
});

describe('the DNS work one message causes', () => {
  it('is bounded: SPF asks for ten terms at most, and ten signatures are verified', async () => {
    const setting = settingOf(false);
    dns.records = [
      ...dns.records,
      txt(
        setting.evil,
        `v=spf1 ${Array.from({ length: 30 }, (_, i) => `include:n${i}.${setting.evil}`).join(' ')} -all`,
      ),
      ...Array.from({ length: 30 }, (_, i) => txt(`n${i}.${setting.evil}`, 'v=spf1 ip4:192.0.2.1 -all')),
    ];
    const mailbox = await world.createMailbox('bounded');
    const header = Array.from({ length: 50 }, (_, i) => fakeSignature(setting.evil, `k${i}`)).join('');
    const message = await messageOf({ header: () => header }, setting);
    assert.match(await world.send(mailbox.address, message, evilSender(setting)), /^250 /);
    const asked = [...dns.asked.keys()];
    assert.equal(asked.filter((name) => name.startsWith('n') && name.endsWith(`.${setting.evil}`)).length, 10);
    assert.equal(asked.filter((name) => name.endsWith(`._domainkey.${setting.evil}`)).length, 10);
  });
});
