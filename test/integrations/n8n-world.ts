/** The service, the built nodes, and an n8n that runs them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestMailbox } from '#test/support/api-world.ts';
import { letter } from '#test/support/mail-world.ts';
import { type WholeService, wholeService } from '#test/support/whole-service.ts';
import { type BuiltNodes, builtNodes, type Credentials, type N8n, startN8n } from './n8n-host.ts';

export interface N8nWorld {
  /** Of the built package. */
  readonly folder: string;
  readonly nodes: BuiltNodes;
  readonly service: WholeService;
  readonly n8n: N8n;
  /** Credentials in n8n: the key of the organization. */
  withKey(): Credentials;
  withToken(mailbox: TestMailbox): Credentials;
  mailTo(mailbox: TestMailbox, subject: string, text?: string): Promise<void>;
  close(): Promise<void>;
}

export async function n8nWorld(): Promise<N8nWorld> {
  const folder = mkdtempSync(path.join(tmpdir(), 'n8n-nodes-'));
  const nodes = builtNodes(folder);
  const service = await wholeService({ WEBHOOK_RETRY_DELAYS_MS: '100,100,100,100' });
  const n8n = await startN8n(nodes);
  const { url } = service.api;
  return {
    folder,
    nodes,
    service,
    n8n,
    withKey: () => ({ url: `${url}/`, secret: service.organization.key['x-organization-key'] ?? '' }),
    withToken: ({ token }) => ({ url, secret: token['authorization']?.replace('Bearer ', '') ?? '' }),
    async mailTo(mailbox, subject, text = subject) {
      assert.match(await service.deliver(mailbox.address, letter(subject, '', `${text}\n`)), /^250/);
    },
    async close() {
      await n8n.stop();
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
