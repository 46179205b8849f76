/** What each operation of the node asks the service, for one item. */
import { randomUUID } from 'node:crypto';
import type { ExecuteHost, Fields, Item } from '../../n8n-interfaces.ts';
import { type Answer, type Call, callService, listAll, mailboxPath, textOf } from '../../service.ts';
import { asTime } from './zoned-time.ts';

/** A run of an operation: one item of the input. */
interface Run {
  readonly host: ExecuteHost;
  readonly index: number;
  /** Path of the mailbox. */
  readonly mailbox: string;
  readonly value: (name: string) => unknown;
  /** The optional fields that are filled. */
  readonly more: Fields;
}

type Result = Pick<Item, 'json' | 'binary'>;
type Operation = (run: Run) => Promise<readonly Result[]>;

/** Without fields that are empty. */
const filled = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== undefined));

/** A list of an expression, or a text with commas. */
const listOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value.map(textOf) : textOf(value).split(',')).map((each) => each.trim()).filter(Boolean);

const part = (value: unknown): string => encodeURIComponent(String(value));
const messagePath = ({ mailbox, value }: Run): string => `${mailbox}/messages/${part(value('messageId'))}`;
const draftPath = ({ mailbox, value }: Run): string => `${mailbox}/drafts/${part(value('draftId'))}`;
const attachmentPath = (run: Run): string => `${messagePath(run)}/attachments/${part(run.value('attachmentId'))}`;

const get = async ({ host }: Run, path: string, call: Call = {}): Promise<Result[]> => [
  { json: (await callService(host, 'GET', path, call)).body },
];

/** Once, however often the request is made. */
const post = ({ host }: Run, path: string, body: Call['body'], call: Call = {}): Promise<Answer> =>
  callService(host, 'POST', path, {
    ...call,
    ...(body === undefined ? {} : { body }),
    headers: { ...call.headers, 'idempotency-key': randomUUID() },
  });

async function list(run: Run, path: string, query: Fields): Promise<Result[]> {
  const entries = await listAll(run.host, path, query, Number(run.value('limit')));
  return entries.map((json) => ({ json }));
}

/** Uploads a binary field of the input. @returns its attachment */
async function upload(run: Run, field: string): Promise<Fields> {
  const { host, index, mailbox } = run;
  const binary = host.getInputData()[index]?.binary?.[field];
  if (binary === undefined) throw new Error(`The input has no binary field ${field}.`);
  const bytes = await host.helpers.getBinaryDataBuffer(index, field);
  const { body } = await post(run, `${mailbox}/files`, bytes, {
    query: { filename: binary.fileName ?? field },
    headers: { 'content-type': binary.mimeType },
  });
  return { fileId: body['id'] };
}

/** Text, recipients and attachments of what is written. */
async function content(run: Run, ...names: string[]): Promise<Fields> {
  const { host, more, value } = run;
  const { attachments, bcc, cc, sendAt, ...rest } = more;
  const uploaded: Fields[] = [];
  for (const field of listOf(attachments)) uploaded.push(await upload(run, field));
  const recipients = Object.entries({ bcc, cc, to: names.includes('to') ? value('to') : undefined })
    .map(([name, each]) => [name, listOf(each)] as const)
    .filter(([, each]) => each.length > 0);
  return filled({
    ...rest,
    ...Object.fromEntries(recipients),
    ...Object.fromEntries(names.filter((name) => name !== 'to').map((name) => [name, value(name)])),
    ...(uploaded.length === 0 ? {} : { attachments: uploaded }),
    ...(sendAt === undefined ? {} : { sendAt: asTime(sendAt, host.getTimezone()) }),
  });
}

/** `held`: it waits for a person, which is a normal result. It must not be sent again. */
const sent = ({ body }: Answer): Result[] => [{ json: { ...body, held: body['status'] === 'consent_pending' } }];

const filters = ({ host, more: { since, ...rest } }: Run): Fields => ({
  ...rest,
  ...(since === undefined ? {} : { since: asTime(since, host.getTimezone()) }),
});

const EXTRACT = 'otp,links';

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'attachment.download': async (run) => {
    const { host, value } = run;
    const { attachments } = (await callService(host, 'GET', messagePath(run), { query: { format: 'metadata' } })).body;
    const found = (attachments as Fields[]).find(({ id }) => id === value('attachmentId'));
    if (found === undefined) throw new Error(`The message has no attachment ${String(value('attachmentId'))}.`);
    const { bytes } = await callService(host, 'GET', attachmentPath(run), { bytes: true });
    const name = textOf(found['filename']) || `attachment-${textOf(found['id'])}`;
    const data = await host.helpers.prepareBinaryData(bytes, name, String(found['contentType']));
    return [{ json: found, binary: { [String(value('binaryField'))]: data } }];
  },
  'attachment.getText': (run) => get(run, `${attachmentPath(run)}/text`),
  'draft.create': async (run) => [
    { json: (await post(run, `${run.mailbox}/drafts`, await content(run, 'to', 'subject', 'text'))).body },
  ],
  'draft.delete': async (run) => {
    await callService(run.host, 'DELETE', draftPath(run));
    return [{ json: { id: run.value('draftId'), deleted: true } }];
  },
  'draft.get': (run) => get(run, draftPath(run)),
  'draft.getAll': (run) => list(run, `${run.mailbox}/drafts`, {}),
  'draft.send': async (run) => sent(await post(run, `${draftPath(run)}/send`, {})),
  'message.forward': async (run) =>
    sent(await post(run, `${messagePath(run)}/forward`, await content(run, 'to', 'text'))),
  'message.get': (run) => get(run, messagePath(run), { query: { extract: EXTRACT, format: 'text' } }),
  'message.getAll': (run) => list(run, `${run.mailbox}/messages`, filters(run)),
  'message.reply': async (run) => {
    const action = run.value('replyAll') === true ? 'reply-all' : 'reply';
    return sent(await post(run, `${messagePath(run)}/${action}`, await content(run, 'text')));
  },
  'message.search': (run) => list(run, `${run.mailbox}/messages/search`, { q: run.value('words'), ...filters(run) }),
  'message.send': async (run) =>
    sent(await post(run, `${run.mailbox}/messages`, { subject: '', ...(await content(run, 'to', 'subject', 'text')) })),
  'message.wait': async (run) => {
    const timeoutSeconds = Number(run.value('timeoutSeconds'));
    const { body } = await callService(run.host, 'GET', `${run.mailbox}/messages/wait`, {
      query: { ...filters(run), timeoutSeconds, extract: EXTRACT },
      extraTimeMs: timeoutSeconds * 1_000,
    });
    const messages = body['data'] as Fields[];
    if (messages.length === 0) return [{ json: { timedOut: true, hint: body['hint'], otp: null } }];
    return messages.map((json) => ({ json: { ...json, timedOut: false } }));
  },
};

/** Runs the chosen operation for one item. */
export async function runOperation(host: ExecuteHost, index: number): Promise<readonly Result[]> {
  const value = (name: string): unknown => host.getNodeParameter(name, index, '');
  const name = `${String(value('resource'))}.${String(value('operation'))}`;
  const operation = OPERATIONS[name];
  if (operation === undefined) throw new Error(`There is no operation ${name}.`);
  const { unread, ...more } = filled(host.getNodeParameter('additionalFields', index, {}) as Fields);
  return operation({
    host,
    index,
    mailbox: await mailboxPath(host, value('mailboxId')),
    value,
    more: unread === true ? { ...more, unread } : more,
  });
}
