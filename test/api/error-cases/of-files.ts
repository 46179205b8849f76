/** Errors of uploaded files. */

import { newId } from '#core/platform/new-id.ts';
import { newCredential } from '#core/platform/secrets/credentials.ts';
import { FILES_PER_MAILBOX_MAX_BYTES } from '#domain/mail/file-limits.ts';
import { type ApiWorld, type TestMailbox, textAt } from '#test/support/api-world.ts';
import { ownMessage, type Reach } from './reach.ts';

/** A mailbox whose files have no room for another one. */
async function fullMailbox(world: ApiWorld): Promise<TestMailbox> {
  const mailbox = await world.newMailbox(world.organization);
  await world.sql(
    `insert into mailbox_file (id, organization_id, mailbox_id, filename, content_type, size_bytes, state, created_at, expires_at)
     values ($1, $2, $3, 'large.bin', 'application/octet-stream', $4, 'complete', now(), now() + interval '1 day')`,
    [newId('file'), world.organization.id, mailbox.id, FILES_PER_MAILBOX_MAX_BYTES],
  );
  return mailbox;
}

const ownFile =
  (method: string): Reach =>
  (world) =>
    world.call(method, `/api/mailbox/files/${newId('file')}`, { as: world.organization.mailbox.token });

/** A message of a new mailbox to itself with one attachment, and the request for its text. */
const textOf =
  (content: string, contentType: string, base: (id: string) => string): Reach =>
  async (world) => {
    const { id, address, token } = await world.newMailbox(world.organization);
    const attachments = [{ contentBase64: Buffer.from(content).toString('base64'), contentType }];
    const body = { to: [address], subject: 'x', text: 'x', attachments };
    const sent = await world.call('POST', '/api/mailbox/messages', { as: token, body });
    return world.call('GET', `${base(id)}/messages/${textAt(sent.body, 'id')}/attachments/2/text`, { as: token });
  };
const textCases = Object.fromEntries(
  [
    { name: 'getAttachmentText', base: () => '/api/mailbox' },
    { name: 'getMailboxAttachmentText', base: (id: string) => `/api/mailboxes/${id}` },
  ].flatMap(({ name, base }): [string, Reach][] => [
    [`${name} unsupported_document`, textOf('x', 'application/x-other', base)],
    [`${name} unreadable_document`, textOf('no PDF', 'application/pdf', base)],
  ]),
);

export const fileCases: Readonly<Record<string, Reach>> = {
  ...textCases,
  'getAttachmentText not_found': ownMessage('/attachments/1/text'),
  'getFile not_found': ownFile('GET'),
  'deleteFile not_found': ownFile('DELETE'),
  'uploadByUrl not_found': (world) =>
    world.call('PUT', `/api/uploads/${newCredential('fileUpload')}`, { rawBody: 'x' }),
  ...Object.fromEntries(
    [
      { name: 'uploadFile', path: () => '/api/mailbox/files', options: { rawBody: 'x' } },
      { name: 'createUpload', path: () => '/api/mailbox/files/uploads', options: { body: { filename: 'a.txt' } } },
      { name: 'uploadMailboxFile', path: (id: string) => `/api/mailboxes/${id}/files`, options: { rawBody: 'x' } },
      {
        name: 'createMailboxUpload',
        path: (id: string) => `/api/mailboxes/${id}/files/uploads`,
        options: { body: { filename: 'a.txt' } },
      },
    ].map(({ name, path, options }): [string, Reach] => [
      `${name} quota_exceeded`,
      async (world) => {
        const { id, token } = await fullMailbox(world);
        return world.call('POST', path(id), { as: token, ...options });
      },
    ]),
  ),
};
