/**
 * A small n8n: loads the built nodes, keeps workflows with their static data as text, receives webhooks over HTTPS, and
 * calls the functions of a node in n8n's order. Static data of a poll is stored only if it started the workflow, and
 * each webhook reads it anew, as in n8n. What n8n 2.40 was seen to do is done here: static data of a webhook is not stored
 * if it started the workflow, and the endpoint of a test is deleted in the mode `internal`.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { buildN8nPackage } from '#dev/build/build-packages.ts';
import { testTls } from '#test/support/services.ts';
import { testPort } from '#test/support/test-port.ts';
import type { AgentMailboxApi } from '../../integrations/n8n/src/credentials/AgentMailboxApi.credentials.ts';
import type { BinaryData, Fields, HttpRequest, Item } from '../../integrations/n8n/src/n8n-interfaces.ts';
import type { AgentMailbox } from '../../integrations/n8n/src/nodes/AgentMailbox/AgentMailbox.node.ts';
import type { AgentMailboxTrigger } from '../../integrations/n8n/src/nodes/AgentMailbox/AgentMailboxTrigger.node.ts';

export interface BuiltNodes {
  readonly manifest: Fields & { readonly n8n: { readonly nodes: string[]; readonly credentials: string[] } };
  readonly action: AgentMailbox;
  readonly trigger: AgentMailboxTrigger;
  readonly credential: AgentMailboxApi;
}

/** Builds the package, and loads its classes as n8n does: by the paths and class names of its manifest. */
export function builtNodes(folder: string): BuiltNodes {
  buildN8nPackage(folder);
  const require = createRequire(path.join(folder, 'package.json'));
  const manifest = require('./package.json') as BuiltNodes['manifest'];
  const load = (file: string | undefined): unknown => {
    assert.ok(file !== undefined);
    const classes = require(`./${file}`) as Record<string, new () => unknown>;
    const Class = classes[path.basename(file).split('.')[0] ?? ''];
    assert.ok(Class !== undefined, `${file} has no class of its name`);
    return new Class();
  };
  const { nodes, credentials } = manifest.n8n;
  return {
    manifest,
    action: load(nodes[0]) as AgentMailbox,
    trigger: load(nodes[1]) as AgentMailboxTrigger,
    credential: load(credentials[0]) as AgentMailboxApi,
  };
}

export interface Credentials {
  readonly url: string;
  readonly secret: string;
}

/** What functions of every kind have. */
function commonHost({ credential }: BuiltNodes, credentials: Credentials, logged: string[]) {
  return {
    getCredentials: async (name: string): Promise<Fields> => {
      assert.equal(name, credential.name);
      return { ...credentials };
    },
    getInstanceId: () => 'instance',
    logger: { warn: (message: string) => void logged.push(message) },
    helpers: {
      async httpRequestWithAuthentication(this: unknown, name: string, given: HttpRequest): Promise<unknown> {
        assert.equal(name, credential.name);
        const {
          method,
          url,
          qs = {},
          body,
          headers = {},
          encoding,
        } = await credential.authenticate({ ...credentials }, given);
        const address = new URL(url);
        for (const [key, value] of Object.entries(qs)) address.searchParams.set(key, String(value));
        const isBytes = Buffer.isBuffer(body);
        const response = await fetch(address, {
          method,
          headers: { ...headers, ...(body === undefined || isBytes ? {} : { 'content-type': 'application/json' }) },
          redirect: 'manual',
          ...(body === undefined ? {} : { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
        });
        const bytes = Buffer.from(await response.arrayBuffer());
        const text = bytes.toString();
        const isJson = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
        return {
          statusCode: response.status,
          headers: Object.fromEntries(response.headers),
          body: encoding === 'arraybuffer' ? bytes : isJson ? JSON.parse(text) : text,
        };
      },
      prepareBinaryData: async (data: Buffer, fileName?: string, mimeType = ''): Promise<BinaryData> => ({
        data: data.toString('base64'),
        mimeType,
        ...(fileName === undefined ? {} : { fileName }),
      }),
    },
  };
}

export interface RunOptions {
  readonly credentials: Credentials;
  readonly parameters: Fields;
  readonly input?: Item[];
  readonly continueOnFail?: boolean;
  readonly timezone?: string;
}

/** Runs the node once. @returns its output */
export async function runNode(nodes: BuiltNodes, options: RunOptions): Promise<Item[]> {
  const { credentials, parameters, input = [{ json: {} }], continueOnFail = false, timezone = 'UTC' } = options;
  const common = commonHost(nodes, credentials, []);
  const host = {
    ...common,
    getMode: () => 'manual',
    getNode: () => ({ id: 'node', name: 'Agent Mailbox' }),
    getWorkflow: () => ({ id: 'workflow', name: 'Workflow' }),
    continueOnFail: () => continueOnFail,
    getInputData: () => input,
    getTimezone: () => timezone,
    getNodeParameter: (name: string, _: number, fallback?: unknown) => parameters[name] ?? fallback,
    helpers: {
      ...common.helpers,
      getBinaryDataBuffer: async (index: number, field: string) =>
        Buffer.from(input[index]?.binary?.[field]?.data ?? '', 'base64'),
    },
  };
  const [output = []] = await nodes.action.execute.call(host);
  return output;
}

export interface TriggerWorkflow {
  /** Items of each execution. */
  readonly executions: Fields[][];
  readonly logged: string[];
  readonly parameters: Fields;
  readonly credentials: Credentials;
  /** What n8n has stored. */
  staticData(): Fields;
  /** As n8n ends a test whose endpoint could not be registered. */
  endFailedTest(): Promise<void>;
  /** The next delivery is answered with an error, because no execution could be made for it. */
  failNextStart(): void;
  /** What webhooks see before n8n has stored what an activation changed. */
  loseStaticData(): void;
  /** As the switch of a workflow, and as the start of n8n does. @throws what n8n would show */
  activate(): Promise<void>;
  deactivate(): Promise<void>;
  /** At a poll time. @throws what n8n gives to the error workflow */
  poll(): Promise<void>;
  /** Listens for a test event in the editor, and stops. */
  listenForTest(): Promise<void>;
  endTest(): Promise<void>;
  /** Sends the `webhook-*` header fields and a body. @returns the status */
  request(headers: Record<string, string>, body: string): Promise<number>;
}

interface ReceivedDelivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
}

export interface N8n {
  /** All requests that arrived, with their answers. */
  readonly received: ReceivedDelivery[];
  workflow(id: string, credentials: Credentials, parameters: Fields): TriggerWorkflow;
  /** The process ends: connections are refused, and what is only in memory is gone. */
  stop(): Promise<void>;
  /** It listens at its former address again. Workflows must be activated, as n8n does at its start. */
  start(): Promise<void>;
}

type WebhookCall = (request: IncomingMessage, body: Buffer, response: ServerResponse) => Promise<void>;

export async function startN8n(nodes: BuiltNodes): Promise<N8n> {
  const { certFile, keyFile } = testTls();
  const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
  const webhooks = new Map<string, WebhookCall>();
  const received: ReceivedDelivery[] = [];
  let port = 0;
  let server: https.Server | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const called = webhooks.get(request.url ?? '');
    if (called === undefined) response.writeHead(404).end('{}');
    else await called(request, body, response);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    received.push({ path: request.url ?? '', headers, body: body.toString(), status: response.statusCode });
  }

  const n8n: N8n = {
    received,
    async start() {
      server = https.createServer(tls, (request, response) => {
        answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
      });
      if (port === 0) port = await testPort();
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async stop() {
      if (server === undefined) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      server = undefined;
      webhooks.clear();
    },
    workflow(id, credentials, parameters) {
      const addressOf = (kind: string) => `/${kind}/${id}/webhook`;
      const executions: Fields[][] = [];
      const logged: string[] = [];
      const stored = { production: '{}', test: '{}' };
      let startFails = false;
      /** In memory since the activation; polls see this. */
      let active: Fields = {};

      const hostOf = (mode: string, data: Fields, isTest = mode === 'manual') => ({
        ...commonHost(nodes, credentials, logged),
        getMode: () => mode,
        getNode: () => ({ id: 'trigger', name: 'Agent Mailbox Trigger' }),
        getWorkflow: () => ({ id, name: `Workflow ${id}` }),
        getNodeParameter: (name: string, fallback?: unknown) => parameters[name] ?? fallback,
        getWorkflowStaticData: () => data,
        getNodeWebhookUrl: () => `https://localhost:${port}${addressOf(isTest ? 'webhook-test' : 'webhook')}`,
      });
      /** Items pass through the node before those behind it get them. */
      const start = async (items: Item[], mode: string) => {
        const [output = []] = await nodes.trigger.execute.call({ ...hostOf(mode, {}), getInputData: () => items });
        executions.push(output.map(({ json }) => json));
      };
      const receive =
        (place: 'production' | 'test'): WebhookCall =>
        async (request, body, response) => {
          const data = JSON.parse(stored[place]) as Fields;
          const host = {
            ...hostOf(place === 'test' ? 'manual' : 'webhook', data),
            getHeaderData: () => request.headers,
            // The raw body is read on demand, as newer versions of n8n do.
            getRequestObject: () => {
              const read = {
                async readRawBody() {
                  Object.assign(read, { rawBody: body });
                },
              };
              return read as { rawBody?: Buffer; readRawBody(): Promise<void> };
            },
            getResponseObject: () => ({
              status: (code: number) => ({
                json: (value: unknown) => response.writeHead(code).end(JSON.stringify(value)),
              }),
            }),
          };
          const { noWebhookResponse, webhookResponse, workflowData } = await nodes.trigger.webhook.call(host);
          if (workflowData !== undefined && startFails) {
            startFails = false;
            response.writeHead(500).end();
            return;
          }
          if (workflowData === undefined) stored[place] = JSON.stringify(data);
          if (!noWebhookResponse) response.writeHead(200).end(JSON.stringify(webhookResponse));
          for (const items of workflowData ?? []) await start(items, place === 'test' ? 'manual' : 'webhook');
        };
      const poll = async () => {
        const before = JSON.stringify(active);
        const items = await nodes.trigger.poll.call(hostOf('trigger', active));
        if (items === null) return;
        if (JSON.stringify(active) !== before) stored.production = JSON.stringify(active);
        for (const each of items) await start(each, 'trigger');
      };
      const { checkExists, create, delete: remove } = nodes.trigger.webhookMethods.default;
      const clear = async () => {
        const data = JSON.parse(stored.production) as Fields;
        await remove.call(hostOf('internal', data));
        stored.production = JSON.stringify(data);
      };

      return {
        executions,
        logged,
        parameters,
        credentials,
        staticData: () => JSON.parse(stored.production) as Fields,
        loseStaticData() {
          stored.production = '{}';
        },
        async activate() {
          active = JSON.parse(stored.production) as Fields;
          const host = hostOf('trigger', active);
          webhooks.set(addressOf('webhook'), receive('production'));
          try {
            if (!(await checkExists.call(host))) await create.call(host);
          } catch (error) {
            await clear().catch((later: unknown) => logged.push(String(later)));
            throw error;
          }
          stored.production = JSON.stringify(active);
          await poll();
        },
        async deactivate() {
          await clear();
          webhooks.delete(addressOf('webhook'));
        },
        poll,
        async listenForTest() {
          const data = JSON.parse(stored.test) as Fields;
          webhooks.set(addressOf('webhook-test'), receive('test'));
          if (!(await checkExists.call(hostOf('manual', data)))) await create.call(hostOf('manual', data));
          stored.test = JSON.stringify(data);
        },
        async endTest() {
          const data = JSON.parse(stored.test) as Fields;
          await remove.call(hostOf('internal', data, true));
          stored.test = JSON.stringify(data);
          webhooks.delete(addressOf('webhook-test'));
        },
        endFailedTest: async () => {
          await remove.call(hostOf('internal', {}, true));
        },
        failNextStart() {
          startFails = true;
        },
        async request(given, body) {
          const headers = Object.fromEntries(Object.entries(given).filter(([name]) => name.startsWith('webhook-')));
          const address = { host: '127.0.0.1', port, path: addressOf('webhook'), method: 'POST', headers };
          const sent = https.request({ ...address, rejectUnauthorized: false });
          sent.end(body);
          const [response] = (await once(sent, 'response')) as [IncomingMessage];
          response.resume();
          await once(response, 'end');
          return response.statusCode ?? 0;
        },
      };
    },
  };
  await n8n.start();
  return n8n;
}
