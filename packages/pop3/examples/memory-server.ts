// A mail server in one file: POP3 under TLS, one mailbox in memory. PORT, TLS_KEY and TLS_CERT are environment variables.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { MemoryStore } from '@agent-mailbox/mail-store/memory';
import { type Pop3Login, servePop3 } from '@agent-mailbox/pop3';

const { PORT = '1995', TLS_KEY = 'key.pem', TLS_CERT = 'cert.pem' } = process.env;
const store = new MemoryStore();
store.deliver('INBOX', 'From: Ann <ann@example.com>\nTo: me@example.com\nSubject: Hello\n\nHow are you?\n');

const login: Pop3Login = async ({ address, token }) =>
  address === 'me@example.com' && token === 'secret'
    ? { kind: 'ok', account: { mailboxId: 'me', address }, store, onClosed: () => () => undefined }
    : { kind: 'refused' };

let connections = 0;
const server = createServer({ key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) }, (socket) => {
  socket.on('error', () => socket.destroy());
  servePop3(socket, {
    connectionId: String(++connections),
    remoteAddress: socket.remoteAddress ?? '',
    secure: true,
    login,
  });
});
server.listen(Number(PORT), '127.0.0.1', () => process.stdout.write(`pop3s ${JSON.stringify(server.address())}\n`));
