/**
 * `webhooks listen`: live events to a server on this machine.
 *
 * The address of its endpoint is the built-in receiver, so nothing has to be reachable from the service. The deliveries
 * are read by the API and signed here once more with the secret of the endpoint: the local server sees what it would see
 * as an endpoint, with a valid signature of this moment.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { collect, given } from '#cli/command.ts';
import { CommandError } from '#cli/exit-codes.ts';
import { print, styled } from '#cli/output.ts';
import { type GlobalOptions, openOrganization } from '#cli/session.ts';
import { safeJson, safeLine } from '#cli/terminal-text.ts';
import { type Delivery, type OrganizationClient, signWebhook, tlsFailureOf } from '#client/index.ts';

interface ListenOptions extends GlobalOptions {
  readonly forward?: string;
  readonly event?: string[];
  readonly ofMailbox?: string;
}

/** Between two turns, when the stream reports nothing. */
const POLL_MS = 2_000;
/** The service waits as long for an endpoint. */
const FORWARD_TIMEOUT_MS = 15_000;

/** @throws {CommandError} */
function forwardUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href;
  throw new CommandError(
    'invalid_url',
    `${JSON.stringify(text)} is not the address of a server.`,
    'Give an address such as http://localhost:3000/hook.',
  );
}

/** Sends one delivery as the service does. @returns the result in words */
async function forward(url: string, secret: string, { id, eventType, payload }: Delivery): Promise<string> {
  const body = JSON.stringify(payload);
  const began = performance.now();
  try {
    const headers = await signWebhook(id, body, secret);
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
      headers: { 'content-type': 'application/json', 'x-service-event': eventType, ...headers },
    });
    await response.body?.cancel();
    return `${response.status} in ${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = tlsFailureOf(cause) ?? (cause instanceof Error ? cause.message || cause.name : String(cause));
    return `no answer: ${safeLine(reason)}`;
  }
}

/**
 * A turn whenever deliveries may have changed: at the beginning, after an event of the stream, and every two seconds
 * besides, for keys that may not follow the stream and for what happens before it is open.
 */
async function* turns(service: OrganizationClient, endpointId: string, signal: AbortSignal): AsyncGenerator<void> {
  let changed = Promise.withResolvers<void>();
  const follow = async (): Promise<void> => {
    for await (const event of service.events({ signal }))
      if (event.name === 'deliveries_changed' && (event.data.more || event.data.ids.includes(endpointId)))
        changed.resolve();
  };
  // Without the stream the turns come by time.
  const following = follow().catch(() => {});
  while (!signal.aborted) {
    changed = Promise.withResolvers<void>();
    yield;
    const turn = new AbortController();
    await Promise.race([
      changed.promise,
      delay(POLL_MS, undefined, { signal: AbortSignal.any([signal, turn.signal]) }).catch(() => {}),
    ]);
    turn.abort();
  }
  await following;
}

async function listen(options: ListenOptions): Promise<void> {
  const url = forwardUrl(options.forward ?? '');
  const { service } = openOrganization(options);
  const mailboxId = options.ofMailbox;
  const types =
    options.event ??
    (await service.webhooks.eventTypes()).data
      .filter(({ scopes }) => (mailboxId === undefined ? scopes.organization : scopes.mailbox))
      .map(({ type }) => type);
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  const endpoint = await openListeningEndpoint(service, { eventTypes: types, ...given({ mailboxId }) });
  try {
    print(options, { endpoint: endpoint.id, secret: endpoint.secret, forward: url, eventTypes: types }, () =>
      [
        `${styled('green', 'Listening')} for ${types.join(', ')}`,
        `Forwarding to ${url}`,
        `Secret: ${endpoint.secret}`,
        'Send an example: agent-mailbox webhooks trigger',
        'Ctrl-C ends it and deletes the endpoint.',
      ].join('\n'),
    );
    for await (const _ of turns(service, endpoint.id, stop.signal)) await forwardNew(endpoint, url, options);
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
    await endpoint.close();
  }
}

async function forwardNew(endpoint: ListeningEndpoint, url: string, { json }: GlobalOptions): Promise<void> {
  for (const delivery of await endpoint.newDeliveries()) {
    const result = await forward(url, endpoint.secret, delivery);
    const { id, eventType } = delivery;
    process.stdout.write(
      json === true ? `${safeJson({ delivery: id, eventType, result })}\n` : `${eventType}  ${id}  ${result}\n`,
    );
  }
}

export function addListenCommand(webhooks: Command): void {
  webhooks
    .command('listen')
    .description(
      'Forward live events to a server on this machine, signed as the service signs them, without a public address',
    )
    .requiredOption('--forward <url>', 'such as http://localhost:3000/hook')
    .option('--event <type>', 'event type; may be repeated; default: all', collect)
    .option('--of-mailbox <id>', 'only events of this mailbox')
    .action((_, command: Command) => listen(command.optsWithGlobals()));
}

/** By which `webhooks trigger` finds the endpoint. */
export const LISTEN_DESCRIPTION = 'agent-mailbox webhooks listen';

/** Clocks of two machines differ. */
const MARGIN_MS = 60_000;

interface ListeningEndpoint {
  readonly id: string;
  readonly secret: string;
  /** Deliveries that were not returned yet, oldest first. */
  newDeliveries(): Promise<readonly Delivery[]>;
  /** Deletes it. */
  close(): Promise<void>;
}

async function openListeningEndpoint(
  service: OrganizationClient,
  fields: { readonly eventTypes: readonly string[]; readonly mailboxId?: string },
): Promise<ListeningEndpoint> {
  const { url } = await service.webhooks.openReceiver();
  const { id, secret } = await service.webhooks.create({ ...fields, url, description: LISTEN_DESCRIPTION });
  const since = new Date(Date.now() - MARGIN_MS).toISOString();
  const seen = new Set<string>();
  return {
    id,
    secret: secret ?? '',
    async newDeliveries() {
      const found: Delivery[] = [];
      for await (const { data } of service.deliveries.list(id, { since, limit: 100 }).pages()) {
        const fresh = data.filter((delivery) => !seen.has(delivery.id));
        found.push(...fresh);
        // Newest first: behind a page that is known is nothing new.
        if (fresh.length === 0) break;
      }
      for (const delivery of found) seen.add(delivery.id);
      return found.reverse();
    },
    close: () => service.webhooks.delete(id),
  };
}
