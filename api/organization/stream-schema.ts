import Type from 'typebox';
import { STREAM_EVENTS } from '#api/events/schema.ts';
import { closed, nullable } from '#api/http/schema-parts.ts';
import { ORGANIZATION_CHANGES } from '#domain/webhooks/organization-stream.ts';

const OrganizationChange = closed(
  {
    mailboxId: nullable(Type.String()),
    ids: Type.Array(Type.String(), { description: 'What changed, as far as it is named.' }),
    more: Type.Boolean({ description: 'Whether there are others than those named.' }),
  },
  { title: 'OrganizationChange' },
);

/** `data` of each event of the stream of an organization, by its name. */
export const ORGANIZATION_STREAM_EVENTS = {
  ...Object.fromEntries(ORGANIZATION_CHANGES.map((kind) => [`${kind}_changed`, OrganizationChange])),
  resync: STREAM_EVENTS.resync,
  closed: STREAM_EVENTS.closed,
};
