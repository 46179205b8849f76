/** `deliveries`, with the recoveries of those that were given up. */
import type { Command } from 'commander';
import {
  choice,
  given,
  type ListOptions,
  listed,
  ofOthers,
  pageOf,
  shown,
  withListOptions,
  withOrganization,
} from '#cli/command.ts';
import { recordText, tableText } from '#cli/output.ts';
import type { ListDeliveriesQuery, OrganizationClient, Recovery } from '#client/index.ts';

type Status = NonNullable<ListDeliveriesQuery['status']>;
interface Range {
  readonly since?: string;
  readonly until?: string;
}

const RECOVERY_STEPS: readonly (readonly [
  string,
  string,
  (service: OrganizationClient, endpointId: string, id: string) => Promise<Recovery>,
])[] = [
  ['recovery', 'Show the progress of a recovery', (service, ...ids) => service.recoveries.get(...ids)],
  ['pause-recovery', 'Pause a recovery', (service, ...ids) => service.recoveries.pause(...ids)],
  ['resume-recovery', 'Go on with a paused recovery', (service, ...ids) => service.recoveries.resume(...ids)],
  ['cancel-recovery', 'End a recovery', (service, ...ids) => service.recoveries.cancel(...ids)],
];

export function addDeliveryCommands(program: Command): void {
  const deliveries = program.command('deliveries').description('See what was sent to an endpoint, and send it again');
  withListOptions(deliveries.command('list').description('List the deliveries of an endpoint, newest first'))
    .argument('<endpoint>', 'whe_…')
    .addOption(choice('--status <status>', 'only these', ['pending', 'success', 'failed', 'exhausted']))
    .option('--since <time>', 'only from this time on, ISO 8601')
    .action(
      withOrganization<ListOptions & Range & { status?: Status }>(({ service, args: [endpoint = ''], options }) =>
        ofOthers(
          listed(
            service.deliveries.list(endpoint, {
              ...pageOf(options),
              ...given({ status: options.status, since: options.since }),
            }),
            ['id', 'createdAt', 'eventType', 'status', 'attemptCount', 'responseCode', 'lastError'],
            'Nothing was sent to it.',
          ),
        ),
      ),
    );
  deliveries
    .command('show')
    .description('Show a delivery with its attempts')
    .argument('<endpoint>', 'whe_…')
    .argument('<delivery>', 'dlv_…')
    .action(
      withOrganization(async ({ service, args: [endpoint = '', id = ''] }) => {
        const delivery = await service.deliveries.get(endpoint, id);
        const { attempts, payload, ...rest } = delivery;
        return {
          value: delivery,
          untrusted: true,
          text: () =>
            [
              recordText(rest),
              '',
              tableText(attempts, ['number', 'startedAt', 'durationMs', 'responseCode', 'error'], 'No attempt yet.'),
              '',
              recordText({ payload }),
            ].join('\n'),
        };
      }),
    );
  deliveries
    .command('resend')
    .description('Send a final delivery once more')
    .argument('<endpoint>', 'whe_…')
    .argument('<delivery>', 'dlv_…')
    .action(
      withOrganization(async ({ service, args: [endpoint = '', id = ''] }) =>
        shown(await service.deliveries.resend(endpoint, id)),
      ),
    );
  deliveries
    .command('recover')
    .description('Send again all deliveries that were given up since a time')
    .argument('<endpoint>', 'whe_…')
    .requiredOption('--since <time>', 'ISO 8601')
    .option('--until <time>', 'ISO 8601; default: now')
    .action(
      withOrganization<{ since: string; until?: string }>(async ({ service, args: [endpoint = ''], options }) =>
        shown(await service.recoveries.start(endpoint, { since: options.since, ...given({ until: options.until }) })),
      ),
    );
  withListOptions(deliveries.command('recoveries').description('List the recoveries of an endpoint'))
    .argument('<endpoint>', 'whe_…')
    .action(
      withOrganization<ListOptions>(({ service, args: [endpoint = ''], options }) =>
        listed(
          service.recoveries.list(endpoint, pageOf(options)),
          ['id', 'state', 'done', 'total', 'succeeded', 'failed', 'createdAt'],
          'There was none.',
        ),
      ),
    );
  for (const [name, description, step] of RECOVERY_STEPS)
    deliveries
      .command(name)
      .description(description)
      .argument('<endpoint>', 'whe_…')
      .argument('<recovery>', 'rcv_…')
      .action(
        withOrganization(async ({ service, args: [endpoint = '', id = ''] }) =>
          shown(await step(service, endpoint, id)),
        ),
      );
}
