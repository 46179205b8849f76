import type { DeliveryFilters } from './queries.ts';

const STATUSES = ['pending', 'success', 'failed', 'exhausted'] as const;
const REASONS = [
  'attempts_exhausted',
  'endpoint_inactive',
  'endpoint_deleted',
  'endpoint_gone',
  'plan_downgraded',
  'unsafe_destination',
  'mailbox_deleted',
] as const;
const EVENT_TYPES = [
  'email_received',
  'email_sent',
  'email_blocked',
  'mailbox_created',
  'mailbox_deleted',
  'outbound_consent_requested',
  'outbound_consent_approved',
  'outbound_consent_denied',
] as const;

const oneOf = <Name extends string, Value extends string>(name: Name, values: readonly Value[], given: unknown) => {
  const value = values.find((each) => each === given);
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value });
};
const textOf = (given: unknown): string =>
  typeof given === 'string' || typeof given === 'number' ? String(given) : '';
const moment = <Name extends string>(name: Name, given: unknown) =>
  Number.isNaN(Date.parse(textOf(given)))
    ? {}
    : ({ [name]: new Date(textOf(given)).toISOString() } as { [Key in Name]: string });

/** The filters in the address of the page; everything else is left out. */
export function deliveryFilters(search: Readonly<Record<string, unknown>>): DeliveryFilters {
  const code = textOf(search['responseCode']);
  return {
    ...oneOf('status', STATUSES, search['status']),
    ...oneOf('eventType', EVENT_TYPES, search['eventType']),
    ...oneOf('reason', REASONS, search['reason']),
    ...(/^(?:[1-5](?:\d\d|xx)|none)$/.test(code) ? { responseCode: code } : {}),
    ...moment('since', search['since']),
    ...moment('until', search['until']),
  };
}
