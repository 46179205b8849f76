import type { Services } from '#core/platform/process/services.ts';

/** The services that sending uses. */
export type SendingServices = Pick<
  Services,
  'db' | 'settings' | 'now' | 'log' | 'deliveriesDue' | 'secrets' | 'pepper' | 'mailLog'
>;
