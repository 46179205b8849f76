/** MAIL and RCPT: quoted local parts, parameters, addresses in UTF-8. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { plainPath, readAddress, readAddressCommand } from '#mail/smtp/address-command.ts';
import { letter, type MailWorld, openMailWorld, type TestMailbox } from '#test/support/mail-world.ts';
import { type SmtpClient } from '#test/support/smtp-client.ts';
import { logIn, openSubmissionClient } from '#test/support/submission-client.ts';

let world: MailWorld;
let box: TestMailbox;
before(async () => {
  world = await openMailWorld();
  box = await world.createMailbox('first.last');
  await world.services.db.query(
    `update mailboxes set domain = 'xn--bcher-kva.example', address = 'idn@xn--bcher-kva.example', local_part = 'idn' where id = $1`,
    [(await world.createMailbox('idn')).id],
  );
});
after(() => world.close());

async function talking<T>(about: (client: SmtpClient) => Promise<T>): Promise<T> {
  const client = await world.connect();
  try {
    await client.command('EHLO client.test');
    return await about(client);
  } finally {
    client.close();
  }
}
const rcpt = (path: string, mail = 'MAIL FROM:<bob@example.com>') =>
  talking(async (client) => {
    assert.match(await client.command(mail), /^250/);
    return client.command(`RCPT TO:${path}`);
  });
const mail = (rest: string) => talking((client) => client.command(`MAIL FROM:${rest}`));

describe('a quoted local part (RFC 5321 §4.1.2)', () => {
  for (const local of ['"first.last"', '"FIRST.last"', '"first\\.last"', '"f\\i\\rst.last"', '"first.last+tag"'])
    test(`${local} is that of the mailbox`, async () => {
      assert.match(await rcpt(`<${local}@agents.test>`), /^250/);
      assert.match(await rcpt(`<@relay.test:${local}@agents.test>`), /^250/);
    });
  for (const local of ['"first last"', '"first@last"', '"first>last"', '" first.last"', '""', '"first..last"'])
    test(`${local} is another one, and no syntax error`, async () => {
      assert.match(await rcpt(`<${local}@agents.test>`), /^550 5\.1\.1/);
      assert.match(await mail(`<${local}@example.com>`), /^250/);
    });
  test('stays as it is where it needs its quotes', async () => {
    const reply = await world.send(box.address, letter(), '"two words"@example.com');
    const id = /msg_\w+/.exec(reply)?.[0];
    const [row] = await world.services.db.query<{ envelope_from: string }>(
      `select envelope_from from message where id = $1`,
      [id],
    );
    assert.equal(row?.envelope_from, '"two words"@example.com');
  });
  test('is that of the mailbox at submission too', async () => {
    const client = await logIn(world.mail.submissionStarttls, box);
    assert.match(await client.command(`MAIL FROM:<"first.last"@agents.test>`), /^250/);
    assert.match(await client.command('RCPT TO:<"ann"@example.com>'), /^250/);
    client.close();
  });
  test('means the same with and without needless quotes, whatever its characters', () => {
    const read = (path: string) => {
      const command = readAddressCommand(`RCPT TO:<${path}>`);
      const plain = command === undefined ? undefined : plainPath(command);
      const line = plain === undefined ? undefined : readAddressCommand(plain.line);
      return line === undefined ? undefined : readAddress(line.path, plain?.quoted);
    };
    const character = fc.constantFrom(...'ab.+_ "\\@<>,', 'ü');
    fc.assert(
      fc.property(fc.array(character, { minLength: 1, maxLength: 8 }), (characters) => {
        const local = characters.join('');
        const quoted = characters.map((each) => (/["\\]/.test(each) ? `\\${each}` : each)).join('');
        const escaped = characters.map((each) => `\\${each}`).join('');
        const address = read(`"${quoted}"@x.test`);
        assert.equal(read(`"${escaped}"@x.test`), address);
        const isPlain = /^[ab+_ü]+(?:\.[ab+_ü]+)*$/.test(local);
        assert.equal(address, isPlain ? `${local}@x.test` : `"${quoted}"@x.test`);
      }),
    );
  });
});

describe('parameters', () => {
  const UNKNOWN = ['FOO=bar', 'FOO', 'RET=HDRS', 'ENVID=a', 'AUTH=<>', 'REQUIRETLS', 'MT-PRIORITY=3', 'HOLDFOR=10'];
  for (const parameter of UNKNOWN)
    test(`MAIL with ${parameter} is 555, and so is RCPT (RFC 5321 §4.1.1.11)`, async () => {
      assert.match(await mail(`<bob@example.com> ${parameter}`), /^555 5\.5\.4 /);
      assert.match(await rcpt(`<${box.address}> ${parameter}`), /^555 5\.5\.4 /);
    });
  for (const parameter of ['NOTIFY=NEVER', 'ORCPT=rfc822;a@b.c', 'SIZE=10', 'BODY=8BITMIME', 'SMTPUTF8'])
    test(`RCPT with ${parameter} is 555`, async () => {
      assert.match(await rcpt(`<${box.address}> ${parameter}`), /^555 5\.5\.4 /);
    });
  for (const parameter of ['SIZE=10', 'BODY=8BITMIME', 'body=7bit', 'SMTPUTF8', 'SIZE=10 BODY=8BITMIME SMTPUTF8'])
    test(`MAIL with ${parameter} is accepted`, async () => {
      assert.match(await mail(`<bob@example.com> ${parameter}`), /^250/);
    });
  for (const parameter of ['=x', 'SIZE', 'SIZE=a', 'SMTPUTF8=1', 'BODY=BINARYMIME', '-X=1', 'SIZE=1 SIZE=2'])
    test(`MAIL with ${parameter} is a syntax error`, async () => {
      assert.match(await mail(`<bob@example.com> ${parameter}`), /^501/);
    });
  test('behind the address without a space are a syntax error', async () => {
    assert.match(await mail('<bob@example.com>SIZE=10'), /^501/);
  });
  test('were not announced by HELO', async () => {
    const client = await world.connect();
    await client.command('HELO client.test');
    assert.match(await client.command('MAIL FROM:<bob@example.com> SIZE=10'), /^555/);
    assert.match(await client.command('MAIL FROM:<bob@example.com>'), /^250/);
    client.close();
  });
  test('at submission are those it announces, AUTH among them (RFC 4954 §5)', async () => {
    const client = await logIn(world.mail.submissionStarttls, box);
    assert.match(await client.command(`MAIL FROM:<${box.address}> FOO=bar`), /^555/);
    assert.match(await client.command(`MAIL FROM:<${box.address}> REQUIRETLS`), /^555/);
    assert.match(await client.command(`MAIL FROM:<${box.address}> RET=HDRS ENVID=a AUTH=<> SIZE=10`), /^250/);
    assert.match(await client.command('RCPT TO:<ann@example.com> NOTIFY=NEVER SIZE=10'), /^555/);
    assert.match(await client.command('RCPT TO:<ann@example.com> NOTIFY=NEVER'), /^250/);
    client.close();
  });
  test('REQUIRETLS, which is not implemented, is not announced', async () => {
    const client = await openSubmissionClient(world.mail.submissionStarttls);
    assert.doesNotMatch(await client.command('EHLO client.test'), /REQUIRETLS/);
    client.close();
  });
});

describe('an address in UTF-8 (RFC 6531 §3.5)', () => {
  const WITH = 'MAIL FROM:<bob@example.com> SMTPUTF8';
  const raw = (client: SmtpClient, line: string) => {
    client.socket.write(`${line}\r\n`);
    return client.reply();
  };
  test('needs the parameter SMTPUTF8', async () => {
    await talking(async (client) => {
      assert.match(await raw(client, 'MAIL FROM:<bösewicht@example.com>'), /^553 5\.6\.7 /);
      assert.match(await raw(client, 'MAIL FROM:<bob@bücher.example>'), /^553 5\.6\.7 /);
      assert.match(await raw(client, 'MAIL FROM:<bob@example.com>'), /^250/);
      assert.match(await raw(client, 'RCPT TO:<用户@agents.test>'), /^553 5\.6\.7 /);
      assert.match(await raw(client, `RCPT TO:<${box.address}>`), /^250/);
    });
    await talking(async (client) => {
      assert.match(await raw(client, 'MAIL FROM:<bösewicht@example.com> SMTPUTF8'), /^250/);
      assert.match(await raw(client, 'RCPT TO:<用户@agents.test>'), /^550 5\.1\.1/);
      assert.match(await raw(client, 'RCPT TO:<idn@bücher.example>'), /^250/);
    });
  });
  test('that is none, or has a line separator, is a syntax error', async () => {
    await talking(async (client) => {
      client.socket.write(Buffer.from('MAIL FROM:<b\xffb@example.com> SMTPUTF8\r\n', 'latin1'));
      assert.match(await client.reply(), /^501/);
      assert.match(await raw(client, 'MAIL FROM:<"a\u2028b"@example.com> SMTPUTF8'), /^501/);
    });
  });
  test('a domain of its own alphabet receives mail in the form of DNS', async () => {
    assert.match(await rcpt('<idn@xn--bcher-kva.example>'), /^250/);
    assert.match(await rcpt('<idn@XN--BCHER-KVA.example>', WITH), /^250/);
  });
  test('the parameter does not outlast its transaction', async () => {
    await talking(async (client) => {
      assert.match(await client.command(WITH), /^250/);
      assert.match(await client.command('RSET'), /^250/);
      assert.match(await client.command('MAIL FROM:<bob@example.com>'), /^250/);
      assert.match(await raw(client, 'RCPT TO:<用户@agents.test>'), /^553 5\.6\.7 /);
    });
  });
});
