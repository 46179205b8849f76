/**
 * The whole service in one process, for stories that go through all of it: API with pages, worker, dispatcher, mail
 * listeners; a customer's HTTPS server and a mail host outside.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startDispatcher } from '#core/webhooks/dispatcher/dispatcher.ts';
import { type MailListeners, startMail } from '#mail/start.ts';
import { relayTransport } from '#sending/transports/choose-transport.ts';
import { type ApiWorld, apiWorld } from './api-world.ts';
import { dnsStub } from './mail-world.ts';
import { type Peer, startPeer } from './outbound-world.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { SmtpClient } from './smtp-client.ts';
import { temporalConnection } from './temporal-connection.ts';
import { startTestWorker } from './test-worker.ts';

export interface WholeService extends ApiWorld {
  /** A customer's server. */
  readonly receiver: Receiver;
  /** The mail host that receives all mail for other hosts. */
  readonly peer: Peer;
  readonly mail: MailListeners;
  /** Brings a mail as another mail server would. @returns the reply of DATA */
  deliver(to: string, message: string, from?: string): Promise<string>;
}

export async function wholeService(overrides: Readonly<Record<string, string>> = {}): Promise<WholeService> {
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'whole-service-'));
  const world = await apiWorld({ DATA_DIR: dataFolder, OUTBOUND_RETRY_DELAYS_MS: '100', ...overrides });
  const { services } = world;
  const [receiver, peer] = [await startReceiver(), await startPeer()];
  const connection = await temporalConnection();
  const worker = await startTestWorker(services, connection, {
    transport: relayTransport({ url: peer.url, hostname: 'mail.test' }),
  });
  const dispatcher = startDispatcher(services, worker.temporal);
  const mail = await startMail(services, { lookup: dnsStub() });
  return {
    ...world,
    receiver,
    peer,
    mail,
    async deliver(to, message, from = 'bob@example.com') {
      const client = await SmtpClient.open(mail.smtp.host, mail.smtp.port);
      try {
        return await client.send(from, [to], message);
      } finally {
        client.close();
      }
    },
    async close() {
      await dispatcher.close();
      await mail.close();
      await worker.close();
      await connection.close();
      await world.close();
      await receiver.close();
      await peer.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
