// A mail server in one file: IMAP under TLS, one mailbox in memory. PORT, TLS_KEY and TLS_CERT are environment variables.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { serveImap } from '@agent-mailbox/imap';
import type { Login } from '@agent-mailbox/mail-store';
import { MemoryStore } from '@agent-mailbox/mail-store/memory';

const { PORT = '1993', TLS_KEY = 'key.pem', TLS_CERT = 'cert.pem' } = process.env;
const store = new MemoryStore();
store.deliver('INBOX', 'From: Ann <ann@example.com>\nTo: me@example.com\nSubject: Hello\n\nHow are you?\n');

const login: Login = async ({ address, token }) =>
  address === 'me@example.com' && token === 'secret'
    ? { kind: 'ok', account: { mailboxId: 'me', address }, store, onClosed: () => () => undefined }
    : { kind: 'refused' };

const server = createServer({ key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) }, (socket) => {
  socket.on('error', () => socket.destroy());
  serveImap(socket, {
    tls: true,
    login,
    remoteAddress: socket.remoteAddress ?? '',
    hostname: 'localhost',
    messageMaxBytes: 25_000_000,
  });
});
server.listen(Number(PORT), '127.0.0.1', () => process.stdout.write(`imaps ${JSON.stringify(server.address())}\n`));
