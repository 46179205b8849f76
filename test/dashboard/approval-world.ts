/** What the stories of approvals work with: the service with its worker, and a mail host outside that gets its mail. */

import { relayTransport } from '#sending/transports/choose-transport.ts';
import { type ApiWorld, apiWorld } from '#test/support/api-world.ts';
import { type Peer, startPeer } from '#test/support/outbound-world.ts';
import { temporalConnection } from '#test/support/temporal-connection.ts';
import { testPort } from '#test/support/test-port.ts';
import { startTestWorker } from '#test/support/test-worker.ts';
import { waitUntil } from '#test/support/wait-until.ts';

export interface ApprovalWorld {
  readonly api: ApiWorld;
  readonly outside: Peer;
  /** Waits for a mail to this address. @returns its text, with soft line breaks undone */
  mailTo(address: string): Promise<string>;
  close(): Promise<void>;
}

export async function approvalWorld(): Promise<ApprovalWorld> {
  const [outside, port] = await Promise.all([startPeer(), testPort()]);
  const api = await apiWorld({
    API_PORT: String(port),
    API_PUBLIC_URL: `http://127.0.0.1:${port}`,
    OUTBOUND_TRANSPORT: 'relay',
    OUTBOUND_RELAY_URL: outside.url,
  });
  const connection = await temporalConnection();
  const worker = await startTestWorker(api.services, connection, {
    transport: relayTransport({ url: outside.url, hostname: 'mail.test' }),
  });
  return {
    api,
    outside,
    async mailTo(address) {
      const find = () => outside.received.find(({ to }) => to.includes(address))?.bytes.toString();
      await waitUntil(`a mail to ${address}`, () => find() !== undefined, 60_000);
      return (find() ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=');
    },
    async close() {
      await worker.close();
      await connection.close();
      await api.close();
      await outside.close();
    },
  };
}

/** The link of a notice that opens one request without a session. */
export function linkIn(mail: string): string {
  const [link] = /http:\/\/127\.0\.0\.1:\d+\/approve#aml_[A-Za-z0-9_-]+/.exec(mail) ?? [];
  if (link === undefined) throw new Error(`there is no link in this mail:\n${mail}`);
  return link;
}
