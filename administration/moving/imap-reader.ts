/**
 * Reads an account of any IMAP server, without changing anything there (EXAMINE, BODY.PEEK). A message is recognized by
 * UIDVALIDITY and UID, so an import that goes on loads nothing again.
 */
import { isIP } from 'node:net';
import { ImapFlow, type ListResponse } from 'imapflow';
import type { MailFlag } from '#domain/mail/mail-flags.ts';
import { MAIL_FLAGS } from '#domain/mail/mail-flags.ts';
import { MESSAGE_MAX_BYTES } from '#domain/mail/mail-limits.ts';
import { importDigest } from '#mailstore/delivery/import-messages.ts';
import { asSpecialUse } from './folder-files.ts';
import { type MovedMessage, problem, type SourceItem, tooBig } from './moved-message.ts';
import { MovingError } from './moving-error.ts';

const TLS_PORT = 993;
const PLAIN_PORT = 143;
const SOCKET_TIMEOUT_MS = 300_000;
/** UIDs whose flags and sizes are asked for together. */
const LISTED_TOGETHER = 500;
/** Contents that one command asks for, unless one alone is larger. */
const LOADED_TOGETHER_MAX_BYTES = 4 * 1_048_576;
const LITERAL_MAX_BYTES = MESSAGE_MAX_BYTES + 1_048_576;
const RESPONSE_MAX_BYTES = 2 * LITERAL_MAX_BYTES;
/** A list of all UIDs of a folder is one line. */
const LINE_MAX_BYTES = 64 * 1_048_576;

const SYSTEM_FLAGS: Readonly<Record<string, MailFlag>> = {
  '\\seen': 'seen',
  '\\answered': 'answered',
  '\\flagged': 'flagged',
  '\\deleted': 'deleted',
  '\\draft': 'draft',
};

export interface ImapSource {
  readonly url: URL;
  readonly user: string;
  readonly password: string;
  /** Without TLS, or with a certificate that cannot be checked, also to another machine. */
  readonly insecure: boolean;
  /** A checked address of the host, which is connected to; default: what the system resolves. */
  readonly address?: string;
  /** @returns those of the digests that were imported before, in hexadecimal */
  known(digests: readonly Buffer[]): Promise<Set<string>>;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

export const hostOf = (url: URL): string => url.hostname.replaceAll(/^\[|\]$/g, '');

/** @throws {MovingError} if the server cannot be reached or refuses the login */
export async function* readImap(source: ImapSource): AsyncGenerator<SourceItem> {
  const { url, user, password, insecure, address, known } = source;
  const host = hostOf(url);
  const secure = url.protocol === 'imaps:';
  if (!secure && url.protocol !== 'imap:') throw new MovingError('--imap takes imaps://host or imap://host');
  const mayBeOpen = insecure || isLoopback(host);
  const port = url.port === '' ? (secure ? TLS_PORT : PLAIN_PORT) : Number(url.port);
  const client = new ImapFlow({
    ...(address === undefined ? { host } : { host: address, ...(isIP(host) === 0 ? { servername: host } : {}) }),
    ...{ port, secure, logger: false, disableAutoIdle: true, socketTimeout: SOCKET_TIMEOUT_MS },
    // Without `true` a server that offers no STARTTLS, or somebody between, would get the password in the clear.
    ...(secure || mayBeOpen ? {} : { doSTARTTLS: true }),
    auth: { user, pass: password },
    tls: { rejectUnauthorized: !mayBeOpen },
    ...{ maxLiteralSize: LITERAL_MAX_BYTES, maxResponseSize: RESPONSE_MAX_BYTES, maxLineLength: LINE_MAX_BYTES },
  });
  let failure: Error | undefined;
  client.on('error', (error: Error) => {
    failure = error;
  });
  try {
    await client.connect();
    for (const folder of await client.list()) yield* readFolder(client, folder, { host, user, known });
  } catch (error) {
    throw new MovingError(
      `${host}:${port}: ${failure?.message ?? sentenceOf(error)}. What was imported stays; run the same command again to go on`,
    );
  } finally {
    await client.logout().catch(() => client.close());
  }
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { responseText } = error as { responseText?: unknown };
  return typeof responseText === 'string' ? `${error.message} (${responseText})` : error.message;
}

type Context = Pick<ImapSource, 'user' | 'known'> & { readonly host: string };

async function* readFolder(client: ImapFlow, listed: ListResponse, context: Context): AsyncGenerator<SourceItem> {
  const { path, delimiter, flags, specialUse, specialUseSource, subscribed } = listed;
  if (['\\noselect', '\\nonexistent'].some((flag) => [...flags].some((each) => each.toLowerCase() === flag))) return;
  const folder =
    delimiter === ''
      ? path
      : path
          .split(delimiter)
          .map((level) => level.replaceAll('/', '_'))
          .join('/');
  const use = specialUseSource === 'name' ? undefined : asSpecialUse(specialUse);
  yield { kind: 'folder', name: folder, specialUse: use, ...(use === undefined ? { subscribed } : {}) };
  const opened = await client.mailboxOpen(path, { readOnly: true }).catch((error: unknown) => sentenceOf(error));
  if (typeof opened === 'string') {
    yield problem(folder, `the server does not open it: ${opened}`);
    return;
  }
  if (opened.exists === 0) return;
  const uids = (await client.search({ all: true }, { uid: true })) || [];
  const markOf = (uid: number) =>
    importDigest('imap', context.host, context.user, path, String(opened.uidValidity), uid);
  for (let at = 0; at < uids.length; at += LISTED_TOGETHER) {
    const portion = uids.slice(at, at + LISTED_TOGETHER).map((uid) => ({ uid, mark: markOf(uid) }));
    const known = await context.known(portion.map(({ mark }) => mark));
    const wanted = portion.filter(({ mark }) => !known.has(mark.toString('hex')));
    for (let count = wanted.length; count < portion.length; count++) yield { kind: 'known' };
    if (wanted.length > 0) yield* readPortion(client, folder, new Map(wanted.map(({ uid, mark }) => [uid, mark])));
  }
}

interface Facts {
  readonly uid: number;
  readonly size: number;
  readonly flags: ReadonlySet<string>;
  readonly date: Date | undefined;
}

async function* readPortion(
  client: ImapFlow,
  folder: string,
  wanted: ReadonlyMap<number, Buffer>,
): AsyncGenerator<SourceItem> {
  const query = { uid: true, flags: true, size: true, internalDate: true };
  const facts: Facts[] = [];
  for await (const { uid, size = 0, flags = new Set<string>(), internalDate } of client.fetch(
    [...wanted.keys()].join(','),
    query,
    {
      uid: true,
    },
  ))
    if (wanted.has(uid))
      facts.push({ uid, size, flags, date: internalDate === undefined ? undefined : new Date(internalDate) });
  let group: Facts[] = [];
  let groupBytes = 0;
  for (const each of facts) {
    const where = `${folder}, UID ${each.uid}`;
    if (each.size > MESSAGE_MAX_BYTES) {
      yield tooBig(where, each.size);
      continue;
    }
    if (group.length > 0 && groupBytes + each.size > LOADED_TOGETHER_MAX_BYTES) {
      yield* load(client, folder, group, wanted);
      [group, groupBytes] = [[], 0];
    }
    group.push(each);
    groupBytes += each.size;
  }
  if (group.length > 0) yield* load(client, folder, group, wanted);
}

async function* load(
  client: ImapFlow,
  folder: string,
  group: readonly Facts[],
  marks: ReadonlyMap<number, Buffer>,
): AsyncGenerator<SourceItem> {
  const facts = new Map(group.map((each) => [each.uid, each]));
  // All of them, so that no command of this connection waits for another while they are filed; their sum is bounded.
  const loaded = await client.fetchAll([...facts.keys()].join(','), { uid: true, source: true }, { uid: true });
  for (const { uid, source } of loaded) {
    const known = facts.get(uid);
    const where = `${folder}, UID ${uid}`;
    if (known === undefined || !facts.delete(uid)) continue;
    const mark = marks.get(uid);
    if (source === undefined) yield problem(where, 'the server did not send it: not imported');
    else if (source.length > MESSAGE_MAX_BYTES) yield tooBig(where, source.length);
    else yield messageOf(known, { folder, where, bytes: source, ...(mark === undefined ? {} : { mark }) });
  }
  for (const uid of facts.keys()) yield problem(`${folder}, UID ${uid}`, 'the server did not send it: not imported');
}

function messageOf(
  { flags, date }: Facts,
  rest: Pick<MovedMessage, 'folder' | 'where' | 'bytes' | 'mark'>,
): MovedMessage {
  const system = (flag: string) => SYSTEM_FLAGS[flag.toLowerCase()];
  return {
    kind: 'message',
    ...rest,
    flags: [...flags].reduce((bits, flag) => {
      const name = system(flag);
      return name === undefined ? bits : bits | MAIL_FLAGS[name];
    }, 0),
    keywords: [...flags].filter((flag) => !flag.startsWith('\\')),
    date: date ?? new Date(Number.NaN),
    offsetMinutes: 0,
  };
}
