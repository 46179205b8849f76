/** `webhooks`. */
import type { Command } from 'commander';
import { addDeletion, addList, collect, given, shown, wholeNumber, withOrganization } from '#cli/command.ts';
import { CommandError, EXIT } from '#cli/exit-codes.ts';
import { recordText, tableText } from '#cli/output.ts';
import { safeText } from '#cli/terminal-text.ts';
import type { DeliveryTest, OrganizationClient, WebhookSigningKeys } from '#client/index.ts';
import { addListenCommand, LISTEN_DESCRIPTION } from './listen.ts';
import { addVerifyCommand } from './verify-webhook.ts';

interface EndpointOptions {
  readonly event?: string[];
  readonly description?: string;
  readonly ofMailbox?: string;
  readonly url?: string;
  readonly active?: boolean;
  readonly publicKeySignature?: boolean;
  readonly extracts?: boolean;
}

const OVERLAP_MAX_SECONDS = 86_400;
const HOURS_MAX = 720;

/** The endpoint of the only `listen` that runs, when none is named. @throws {CommandError} */
async function listeningEndpoint(service: OrganizationClient): Promise<string> {
  const found: string[] = [];
  for await (const { id, active, description } of service.webhooks.list())
    if (active && description === LISTEN_DESCRIPTION) found.push(id);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  throw new CommandError(
    'no_endpoint',
    only === undefined ? 'No `webhooks listen` runs.' : 'Several `webhooks listen` run.',
    'Name the endpoint: agent-mailbox webhooks trigger <id>',
    EXIT.notFound,
  );
}

const signingKeysShown = (value: WebhookSigningKeys) => ({
  value,
  text: () =>
    [
      tableText(value.keys, ['publicKey', 'createdAt', 'expiresAt'], 'None: no endpoint asks for them.'),
      recordText({ keySetUrl: value.keySetUrl }),
    ].join('\n'),
});

export function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('Manage endpoints of webhooks, and try them here');
  addList(
    webhooks,
    'List endpoints, newest first',
    ['id', 'active', 'disabledReason', 'eventTypes', 'mailboxId', 'url'],
    'There is no endpoint yet.',
    (service, page) => service.webhooks.list(page),
  );
  webhooks
    .command('show')
    .description('Show an endpoint')
    .argument('<id>', 'whe_…')
    .action(withOrganization(async ({ service, args: [id = ''] }) => shown(await service.webhooks.get(id))));
  webhooks
    .command('create')
    .description('Create an endpoint. Its secret is shown only now')
    .argument('<url>', 'https://…')
    .requiredOption('--event <type>', 'event type; may be repeated', collect)
    .option('--of-mailbox <id>', 'only events of this mailbox')
    .option('--description <text>', 'what it is for')
    .option('--public-key-signature', 'sign with the key pair of the organization too (v1a)')
    .option('--extracts', 'send codes and links of received mail; anybody who reads the delivery can use them')
    .action(
      withOrganization<EndpointOptions>(async ({ service, args: [url = ''], options }) => {
        const { event = [], ofMailbox: mailboxId, description, publicKeySignature, extracts } = options;
        const more = given({ mailboxId, description, publicKeySignature, includeExtracts: extracts });
        return shown(await service.webhooks.create({ url, eventTypes: event, ...more }));
      }),
    );
  webhooks
    .command('update')
    .description('Change an endpoint, set it active or inactive')
    .argument('<id>', 'whe_…')
    .option('--to <url>', 'another address')
    .option('--event <type>', 'all event types it has afterwards; may be repeated', collect)
    .option('--description <text>', 'what it is for')
    .option('--active', 'set it active')
    .option('--no-active', 'set it inactive: nothing is sent to it')
    .option('--public-key-signature', 'sign with the key pair of the organization too (v1a)')
    .option('--no-public-key-signature', 'sign with the secret only')
    .option('--extracts', 'send codes and links of received mail; anybody who reads the delivery can use them')
    .option('--no-extracts', 'do not send them')
    .action(
      withOrganization<EndpointOptions & { to?: string }>(async ({ service, args: [id = ''], options }) => {
        const { to: url, event: eventTypes, description, active, publicKeySignature, extracts } = options;
        const changes = { url, eventTypes, description, active, publicKeySignature, includeExtracts: extracts };
        return shown(await service.webhooks.update(id, given(changes)));
      }),
    );
  addDeletion(webhooks, 'Delete an endpoint', 'whe_…', 'is deleted', (service, id) => service.webhooks.delete(id));
  webhooks
    .command('rotate-secret')
    .description('Make a new secret; during the overlap, deliveries are signed with both')
    .argument('<id>', 'whe_…')
    .option('--overlap <seconds>', 'how long', wholeNumber(OVERLAP_MAX_SECONDS))
    .action(
      withOrganization<{ overlap?: number }>(async ({ service, args: [id = ''], options }) =>
        shown(await service.webhooks.rotateSecret(id, given({ overlapSeconds: options.overlap }))),
      ),
    );
  webhooks
    .command('signing-keys')
    .description('Show the public keys of v1a signatures, and the address of the key set')
    .action(withOrganization(async ({ service }) => signingKeysShown(await service.webhooks.signingKeys())));
  webhooks
    .command('rotate-signing-key')
    .description('Make a new key pair for v1a signatures; during the overlap, deliveries are signed with both')
    .option('--overlap <seconds>', 'how long; default: a day', wholeNumber(OVERLAP_MAX_SECONDS))
    .option('--no-overlap', 'stop using the former key at once')
    .action(
      withOrganization<{ overlap?: number | false }>(async ({ service, options: { overlap } }) => {
        const overlapSeconds = overlap === false ? 0 : overlap;
        return signingKeysShown(await service.webhooks.rotateSigningKey(given({ overlapSeconds })));
      }),
    );
  webhooks
    .command('trigger')
    .description('Send an example of an event to an endpoint')
    .argument('[id]', 'whe_…; default: the endpoint of the running `webhooks listen`')
    .option('--event <type>', 'event type; default: the first of the endpoint')
    .action(
      withOrganization<{ event?: string }>(async ({ service, args: [id], options }) => {
        // The service refuses what is no event type, and names those there are.
        const eventType = options.event as DeliveryTest['eventType'];
        const delivery = await service.webhooks.trigger(
          id ?? (await listeningEndpoint(service)),
          eventType === undefined ? {} : { eventType },
        );
        return {
          value: delivery,
          text: () => recordText({ delivery: delivery.id, event: delivery.eventType, endpoint: delivery.endpointId }),
        };
      }),
    );
  webhooks
    .command('stats')
    .description('Show deliveries by the hour')
    .argument('<id>', 'whe_…')
    .option('--hours <n>', 'of the last hours', wholeNumber(HOURS_MAX))
    .action(
      withOrganization<{ hours?: number }>(async ({ service, args: [id = ''], options }) =>
        shown(await service.webhooks.stats(id, given({ hours: options.hours }))),
      ),
    );
  webhooks
    .command('event-types')
    .description('List the event types')
    .action(
      withOrganization(async ({ service }) => {
        const types = await service.webhooks.eventTypes();
        return { value: types, text: () => tableText(types.data, ['type', 'summary'], 'None.') };
      }),
    );
  webhooks
    .command('check-url')
    .description('Check whether an endpoint may use a URL')
    .argument('<url>', 'https://…')
    .action(withOrganization(async ({ service, args: [url = ''] }) => shown(await service.webhooks.checkUrl({ url }))));
  webhooks
    .command('receiver')
    .description('Show what reached the built-in receiver')
    .option('--open', 'open one, and show its address')
    .action(
      withOrganization<{ open?: true }>(async ({ service, options }) => {
        if (options.open === true) return shown(await service.webhooks.openReceiver());
        const state = await service.webhooks.receiver();
        return {
          value: state,
          untrusted: true,
          text: () =>
            [
              recordText({ url: state.receiver?.url ?? null, expiresAt: state.receiver?.expiresAt ?? null }),
              ...state.requests.map(
                ({ receivedAt, signature, body }) => `${receivedAt}  ${signature}  ${safeText(body)}`,
              ),
            ].join('\n'),
        };
      }),
    );
  addListenCommand(webhooks);
  addVerifyCommand(webhooks);
}
