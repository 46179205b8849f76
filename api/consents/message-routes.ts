/** The whole held message. Mailbox tokens cannot read it; API keys only if they may decide. */

import { type Route, route, type UntypedRequest } from '#api/http/route.ts';
import { attachmentDownload, type Download, rawDownload } from '#api/messages/reading/download.ts';
import { requireDecider } from '#core/organizations/may-decide.ts';
import { CatalogueError } from '#domain/errors.ts';
import { findConsent } from '#sending/consent/consent-record.ts';
import { findHeldBytes, findHeldMessage } from '#sending/consent/held-message.ts';
import { consentMessageExample } from './examples.ts';
import { ConsentAttachmentPath, ConsentMessage } from './message-schema.ts';
import { presentHeldMessage } from './present-message.ts';
import { ConsentPath } from './schema.ts';

const BYTES_OF_HELD_MESSAGE =
  'Bytes of a held message; a person looks at it before a decision, safely in the dashboard.';

const tag = 'Consents';
const auth = { scope: 'mailbox:read' } as const;
const FOR = ' Needs a session of a member, or an API key if the organization sets `consentByApiKey`.';

/** @throws {CatalogueError} not_found before forbidden: requests of other organizations must not be revealed */
async function requireSeer(
  { services, caller }: Pick<UntypedRequest, 'services' | 'caller'>,
  organizationId: string,
  consentId: string,
): Promise<void> {
  if ((await findConsent(services.db, organizationId, consentId)) === undefined) throw new CatalogueError('not_found');
  await requireDecider(services.db, organizationId, caller);
}

/** An approval may change the message: unlike stored mail, a copy of it is not good for ever. */
export const notKept = ({ body, headers }: Download) =>
  ({ status: 200, body, headers: { ...headers, 'Cache-Control': 'private, no-store, no-transform' } }) as const;

export const consentMessageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/consents/:id/message',
    operationId: 'getConsentMessage',
    tag,
    summary: 'Get the whole held message',
    description: `Text, HTML, attachments, all recipients with earlier messages to them, why it is held, and the message it answers.${FOR}`,
    auth,
    params: ConsentPath,
    etag: true,
    responses: {
      200: { description: 'The message.', schema: ConsentMessage, example: consentMessageExample },
    },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await requireSeer({ services, caller }, organization.id, params.id);
      return { status: 200, body: presentHeldMessage(await findHeldMessage(services, organization.id, params.id)) };
    },
  }),
  route({
    method: 'GET',
    path: '/api/consents/:id/message/raw',
    operationId: 'getConsentMessageRaw',
    withoutCall: { cli: BYTES_OF_HELD_MESSAGE },
    tag,
    summary: 'Download the raw held message',
    description: `Byte for byte as it would be sent, without Bcc.${FOR}`,
    auth,
    params: ConsentPath,
    responses: { 200: { description: 'The message.', contentType: 'message/rfc822' } },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await requireSeer({ services, caller }, organization.id, params.id);
      return notKept(rawDownload(services.db, await findHeldBytes(services, organization.id, params.id)));
    },
  }),
  route({
    method: 'GET',
    path: '/api/consents/:id/message/attachments/:aid',
    operationId: 'getConsentMessageAttachment',
    withoutCall: { cli: BYTES_OF_HELD_MESSAGE },
    tag,
    summary: 'Download an attachment of a held message',
    description: `Decoded.${FOR}`,
    auth,
    params: ConsentAttachmentPath,
    responses: {
      200: { description: 'The attachment, with its own media type.', contentType: 'application/octet-stream' },
    },
    errors: ['not_found'],
    async handler({ services, organization, caller, params }) {
      await requireSeer({ services, caller }, organization.id, params.id);
      const held = await findHeldBytes(services, organization.id, params.id);
      return notKept(await attachmentDownload(services.db, held, params.aid));
    },
  }),
];
