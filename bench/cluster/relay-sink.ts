/** The smarthost for outgoing mail: accepts everything and counts by subject. */
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';

export interface RelaySink {
  readonly url: string;
  /** How often a mail with each subject was accepted. */
  readonly received: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

export async function startRelaySink(port: number): Promise<RelaySink> {
  const received = new Map<string, number>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onData(stream, _session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const [, subject = ''] = /^Subject: *(\S+)/im.exec(Buffer.concat(chunks).toString('latin1')) ?? [];
        received.set(subject, (received.get(subject) ?? 0) + 1);
        callback();
      });
    },
  });
  server.on('error', () => {}); // connections that break off are part of the benchmark
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
