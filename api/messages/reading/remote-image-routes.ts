import { readFile } from 'node:fs/promises';
import Type from 'typebox';
import { type Route, route } from '#api/http/route.ts';
import { closed } from '#api/http/schema-parts.ts';
import { MailboxMessagePath } from '#api/messages/schema.ts';
import { destinationPolicy } from '#core/webhooks/requests/destination-guard.ts';
import { requireMailbox } from '#db/queries/mailboxes/require-mailbox.ts';
import { countUse } from '#db/queries/platform/count-use.ts';
import { CatalogueError } from '#domain/errors.ts';
import { REMOTE_IMAGE_URL_MAX, REMOTE_IMAGES_PER_MINUTE_MAX } from '#domain/mail/remote-images.ts';
import { readHtml } from '#mailstore/messages/message-content.ts';
import { findMessage } from '#mailstore/messages/read-messages.ts';
import { fetchRemoteImage } from '#mailstore/messages/remote-image.ts';
import { remoteImagesOf } from '#mime/html-images.ts';

const MINUTE_MS = 60_000;

const RemoteImageQuery = closed({
  url: Type.String({
    minLength: 1,
    maxLength: REMOTE_IMAGE_URL_MAX,
    description: 'URL of the picture, as in the HTML of the message.',
  }),
});

/** As attachments: a browser keeps the bytes and runs nothing in them. */
const headersOf = (bytes: Uint8Array) => ({
  'Content-Length': String(bytes.length),
  'Content-Disposition': 'attachment; filename="picture"',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cache-Control': 'private, no-transform, max-age=86400',
});

export const remoteImageRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/mailboxes/:id/messages/:mid/remote-image',
    operationId: 'getRemoteImage',
    withoutCall: {
      client: 'A picture for the person who looks at a mail in the dashboard; nothing else should load it.',
    },
    tag: 'Messages',
    summary: 'Fetch a remote picture of a message',
    description:
      'For a person who asked to see the pictures of a message. The service fetches the picture by HTTPS, without cookies, from public addresses only. It fetches only URLs of `<img>` elements of this message; PNG, JPEG, GIF, WebP and AVIF of at most 5 MiB, after at most three redirects. Fetching reveals to the owner of the URL that the message was read.',
    auth: { role: 'member' },
    params: MailboxMessagePath,
    query: RemoteImageQuery,
    responses: {
      200: { description: 'The picture, with its own media type.', contentType: 'application/octet-stream' },
    },
    errors: ['not_found'],
    async handler({ services, organization, principal, params, query }) {
      const { db, settings, now } = services;
      const mailbox = await requireMailbox(db, organization.id, params.id);
      const { used, resetsInMs } = await countUse(db, `remote-images:${principal.id}`, MINUTE_MS, now());
      if (used > REMOTE_IMAGES_PER_MINUTE_MAX)
        throw new CatalogueError('rate_limited', undefined, { retryAfterSeconds: Math.ceil(resetsInMs / 1_000) });
      const message = await findMessage(db, mailbox.id, params.mid);
      if (message === undefined) throw new CatalogueError('not_found');
      const { html } = await readHtml(db, message);
      const address = URL.parse(query.url)?.href;
      if (address === undefined || !remoteImagesOf(html ?? '').has(address))
        throw new CatalogueError('not_found', 'The message contains no such picture.');
      const extraCa = settings.WEBHOOK_EXTRA_CA;
      const image = await fetchRemoteImage(address, {
        policy: destinationPolicy(settings),
        ...(extraCa === undefined ? {} : { extraCa: [await readFile(extraCa, 'utf8')] }),
      });
      if (!image.ok)
        throw new CatalogueError('not_found', `The picture could not be fetched: ${image.reason}.`, {
          fix: 'Read the message without the picture. Its URL was chosen by the sender, so it cannot be corrected here.',
        });
      return {
        status: 200,
        headers: { 'Content-Type': image.contentType, ...headersOf(image.bytes) },
        body: image.bytes,
      };
    },
  }),
];
