import type { EventLoad, LoadTimes } from './event-load.ts';
import type { World } from './world.ts';

/** The sources of events. */
export interface Source {
  readonly name: string;
  readonly text: string;
  /** Default number of concurrent producers. */
  readonly producers: number;
  readonly producerName: string;
  /** Mailboxes of each organization. */
  readonly mailboxesEach: number;
  make(world: World, load: EventLoad): Promise<LoadTimes>;
}

const MESSAGE_BYTES = 1_024;

const RECORD: Source = {
  name: 'record',
  text: 'recorded in the process of the service, which leaves the delivery alone',
  producers: 50,
  producerName: 'producer',
  mailboxesEach: 1,
  make: (world, load) => world.service().call('record', load),
};

export const SOURCES: readonly Source[] = [
  RECORD,
  {
    name: 'api',
    text: 'POST /api/mailboxes → mailbox_created',
    producers: 50,
    producerName: 'client',
    mailboxesEach: 1,
    async make(world, load) {
      const { apiUrl } = await world.service().call('listeners', undefined);
      return world.loadMaker.call('api', { ...load, apiUrl });
    },
  },
  {
    name: 'smtp',
    text: 'mails of 1 KB by SMTP → email_received',
    producers: 20,
    producerName: 'connection',
    mailboxesEach: 20,
    async make(world, load) {
      const { smtp } = await world.service().call('listeners', undefined);
      return world.loadMaker.call('mail', { ...load, ...smtp, messageBytes: MESSAGE_BYTES });
    },
  },
];

/** @throws {Error} when there is none of this name */
export function sourceNamed(name: string | undefined): Source {
  const source = name === undefined ? RECORD : SOURCES.find((each) => each.name === name);
  if (source === undefined)
    throw new Error(`--source takes ${SOURCES.map((each) => each.name).join(', ')}, not "${name}"`);
  return source;
}
