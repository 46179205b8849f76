import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import tls from 'node:tls';
import { MailboxClient } from '#client/index.ts';
import { tlsFailureOf } from '#client/tls-failure.ts';
import { certificateFailureOf } from '#mail/tls.ts';
import { failure } from '#sending/transports/smtp-outcome.ts';

const OPENSSL = /error:[0-9A-F]{8}|routines|\.\.\/deps|ssl\//;
const withCode = (code: string, message = ''): Error => Object.assign(new Error(message), { code });

describe('why a TLS connection failed is said in words that somebody can act on', () => {
  for (const [error, expected] of [
    [
      withCode(
        'EPROTO',
        'write EPROTO C0E7:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/openssl/openssl/ssl/record/methods/tlsany_meth.c:77:\n',
      ),
      /does not speak TLS on this port/,
    ],
    [
      withCode(
        'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
        '0:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:x.c:1:SSL alert number 70',
      ),
      /TLS 1\.2 or later/,
    ],
    [
      withCode('ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'error:0A000410:SSL routines::ssl/tls alert handshake failure'),
      /no method of encryption/,
    ],
    [withCode('CERT_HAS_EXPIRED', 'certificate has expired'), /has expired: renew/],
    [withCode('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'), /self-signed/],
    [
      withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate'),
      /intermediate certificates/,
    ],
    [withCode('ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames"), /another name/],
    [withCode('ESOCKET', 'error:0A000086:SSL routines::certificate verify failed'), /known authority/],
    [withCode('ERR_SSL_WHATEVER', 'error:0A0000FF:SSL routines::something new'), /TLS handshake failed: check/],
    [new Error('fetch failed', { cause: withCode('CERT_HAS_EXPIRED') }), /has expired/],
  ] as const)
    test(`${Reflect.get(error, 'code') ?? 'a cause'} ${error.message.slice(0, 40)}`, () => {
      const said = tlsFailureOf(error) ?? '';
      assert.match(said, expected);
      assert.doesNotMatch(said, OPENSSL);
    });

  test('other errors are left to those who know them', () => {
    for (const error of [
      withCode('ECONNREFUSED', 'connect ECONNREFUSED'),
      new Error('certificate of attendance'),
      'text',
      undefined,
    ])
      assert.equal(tlsFailureOf(error), undefined);
  });

  test('a reason in the answer of a host stays as the host wrote it, one of OpenSSL does not', () => {
    const answered = failure(
      Object.assign(new Error('x'), { responseCode: 550, response: '550 no', command: 'RCPT TO' }),
      'mx.example',
    );
    assert.equal(answered.reply, '550 no');
    const broken = failure(
      withCode('ETLS', 'C0E7:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:x.c:7:'),
      'mx.example',
    );
    assert.match(broken.reply ?? '', /does not speak TLS/);
    assert.doesNotMatch(broken.reply ?? '', OPENSSL);
  });
});

test('a real server without TLS, and the words of the client for it', async () => {
  const sockets: net.Socket[] = [];
  const plain = net.createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  plain.listen(0, '127.0.0.1');
  await once(plain, 'listening');
  try {
    const { port } = plain.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}`;
    const client = new MailboxClient({ url, token: 'amt_x', attempts: 1 });
    await assert.rejects(client.mailbox(), (error) => {
      assert.match(String(error), /does not speak TLS on this port/);
      assert.doesNotMatch(String(error), OPENSSL);
      return true;
    });
  } finally {
    for (const socket of sockets) socket.destroy();
    plain.close();
  }
});

test('files of a certificate that cannot be used', () => {
  const reasonOf = (cert: string, key: string): string => {
    try {
      tls.createSecureContext({ cert, key });
    } catch (error) {
      return certificateFailureOf(error) ?? String(error);
    }
    return 'ok';
  };
  assert.equal(reasonOf('no certificate', 'no key'), 'a file is not in PEM format');
  assert.equal(
    certificateFailureOf(new Error('error:05800074:x509 certificate routines::key values mismatch, OpenSSL')),
    'the key does not belong to the certificate',
  );
  assert.equal(certificateFailureOf(new Error('ENOENT: no such file')), undefined);
});
