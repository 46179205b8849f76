import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { LineClient } from '#test/support/line-client.ts';
import { letter, openMailWorld } from '#test/support/mail-world.ts';

const PROXY = '127.0.2.1';
const world = await openMailWorld({
  settings: { MAIL_PROXY_FROM: `${PROXY}/32` },
  clients: { failureDelayMs: () => 1, connectionsPerSource: 3 },
});
after(() => world.close());
const { pop3Starttls, pop3, smtp } = world.mail;

const proxyLine = (client: string) => `PROXY TCP4 ${client} 192.0.2.1 40000 110\r\n`;

async function proxied(port: number, header: string | Buffer): Promise<LineClient> {
  const client = await LineClient.open(port, { localAddress: PROXY });
  client.send(header);
  return client;
}

test('a proxy’s header contains the client’s address, by which connections and failures are counted', async () => {
  const connections: LineClient[] = [];
  for (let count = 0; count < 3; count++) {
    const client = await proxied(pop3Starttls.port, proxyLine('203.0.113.1'));
    assert.match((await client.line()) ?? '', /^\+OK/);
    connections.push(client);
  }
  const fourth = await proxied(pop3Starttls.port, proxyLine('203.0.113.1'));
  assert.match((await fourth.line()) ?? '', /^-ERR \[SYS\/TEMP\] Too many connections from your address/);
  await fourth.ended();
  const other = await proxied(pop3Starttls.port, proxyLine('203.0.113.2'));
  assert.match((await other.line()) ?? '', /^\+OK/);
  for (const client of [...connections, other]) client.close();
});

test('commands and TLS may follow the header in the same packet', async () => {
  const plain = await proxied(pop3Starttls.port, `${proxyLine('203.0.113.3')}CAPA\r\nQUIT\r\n`);
  assert.match((await plain.line()) ?? '', /^\+OK/);
  await plain.line();
  assert.ok((await plain.body()).includes('STLS'));
  plain.close();
  const secure = await proxied(pop3.port, proxyLine('203.0.113.3'));
  await secure.startTls();
  assert.match((await secure.line()) ?? '', /^\+OK/);
  secure.close();
});

test('a proxy without a valid header is dropped', async () => {
  const client = await proxied(pop3Starttls.port, 'CAPA\r\n');
  assert.equal(await client.line(), undefined);
});

test('a header from another address is not trusted', async () => {
  const client = await LineClient.open(pop3Starttls.port, { localAddress: '127.0.2.2' });
  await client.line();
  assert.match((await client.command(proxyLine('203.0.113.4').trim())) ?? '', /^-ERR Unknown command/);
  client.close();
});

test('SMTP accepts the header too, and the Received field contains the client', async () => {
  const mailbox = await world.createMailbox('proxied');
  const client = await proxied(
    smtp.port,
    Buffer.from('0d0a0d0a000d0a515549540a' + '2111000c' + 'cb007109' + 'c0000201' + '9c400019', 'hex'),
  );
  assert.match((await client.line()) ?? '', /^220/);
  await client.command('HELO relay.example');
  await client.command('MAIL FROM:<bob@example.com>');
  assert.match((await client.command(`RCPT TO:<${mailbox.address}>`)) ?? '', /^250/);
  await client.command('DATA');
  client.send(`${letter().replaceAll('\n', '\r\n')}.\r\n`);
  assert.match((await client.line()) ?? '', /^250/);
  client.close();
  const [row] = await world.services.db.query<{ bytes: Buffer }>(
    `select b.bytes from message m join blob b on b.sha256 = m.blob where m.mailbox_id = $1`,
    [mailbox.id],
  );
  assert.match(row?.bytes.toString('latin1') ?? '', /\[203\.0\.113\.9\]/);
});
