import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as imapLimits from '@agent-mailbox/imap/limits';
import { BAD_COMMANDS_MAX, LOGIN_TIMEOUT_MS, WRITE_AHEAD_MAX_BYTES } from '@agent-mailbox/mail-store/limits';
import * as pop3Limits from '@agent-mailbox/pop3/limits';
import * as limits from '#domain/mail/mail-limits.ts';

const document = readFileSync(new URL('../../../docs/mail.md', import.meta.url), 'utf8');
const number = (value: number): string => value.toLocaleString('en-US');
const size = (bytes: number): string =>
  bytes % 1_048_576 === 0
    ? `${bytes / 1_048_576} MiB`
    : bytes % 1_024 === 0
      ? `${bytes / 1_024} KiB`
      : `${bytes} bytes`;
const time = (ms: number): string => (ms > 60_000 ? `${ms / 60_000} min` : `${ms / 1_000} s`);

test('docs/mail.md lists the limits that the code applies', () => {
  const table = document.slice(document.indexOf('### Limits'), document.indexOf('**Failed logins.**'));
  const documented = [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)]
    .map(([, what = '', value = '']) => [what, value])
    .filter(([what]) => what !== 'limit' && what !== '---');
  const imapDefaults = imapLimits.DEFAULT_IMAP_LIMITS;
  const { imap, pop3 } = limits.CONNECTIONS_PER_MAILBOX_MAX;
  assert.deepEqual(documented, [
    ['message, with every protocol', size(limits.MESSAGE_MAX_BYTES)],
    ['connections of a mailbox: IMAP, POP3', `${imap}, ${pop3} (in each mail process)`],
    [
      'connections of a source address to the listeners for mail clients (IPv6: of a /64)',
      `${limits.CLIENT_CONNECTIONS_PER_SOURCE_MAX} (in each mail process)`,
    ],
    [
      'time to log in; IMAP and POP3 without a command',
      `${time(LOGIN_TIMEOUT_MS)}; ${time(imapDefaults.autologoutMs)} and ${time(pop3Limits.IDLE_TIMEOUT_MS)}`,
    ],
    ['IMAP command line without literals', size(imapDefaults.lineMaxBytes)],
    [
      'IMAP ID: fields; octets of a name, of a value',
      `${imapLimits.ID_FIELDS_MAX}; ${imapLimits.ID_NAME_MAX_BYTES}, ${number(imapLimits.ID_VALUE_MAX_BYTES)}`,
    ],
    [
      'IMAP literal that is not a message; before login; all of a command',
      `${size(imapDefaults.literalMaxBytes)}; ${size(imapDefaults.literalBeforeLoginMaxBytes)}; ${size(imapDefaults.literalsPerCommandMaxBytes)}`,
    ],
    ['messages in one APPEND', number(imapDefaults.appendMessagesMax)],
    [
      'IMAP: ranges of a set, search keys, depth of search keys',
      `${number(imapLimits.SET_RANGES_MAX)}, ${imapLimits.SEARCH_KEYS_MAX}, ${imapLimits.SEARCH_DEPTH_MAX}`,
    ],
    [
      'folders, name depth, name length',
      `${number(limits.FOLDERS_MAX)}, ${limits.FOLDER_DEPTH_MAX}, ${limits.FOLDER_NAME_MAX_BYTES} bytes`,
    ],
    [
      'keywords of a message, of a mailbox; length of one',
      `${limits.KEYWORDS_PER_MESSAGE_MAX}, ${limits.KEYWORDS_PER_MAILBOX_MAX}; ${limits.KEYWORD_MAX_CHARACTERS} characters`,
    ],
    ['POP3 command line; SASL answer', `${size(pop3Limits.LINE_MAX_BYTES)}; ${size(pop3Limits.AUTH_LINE_MAX_BYTES)}`],
    ['invalid commands', `${BAD_COMMANDS_MAX}, then the connection ends`],
    [
      'a client that does not read what it asked for',
      `is dropped after ${time(limits.STUCK_READER_TIMEOUT_MS)}; at most ${size(WRITE_AHEAD_MAX_BYTES)} are written ahead of it`,
    ],
    [
      'COMPRESS',
      `once more than ${size(imapDefaults.inflateRatioFromBytes)} is inflated: at most ${imapDefaults.inflateRatioMax} inflated bytes for each received byte`,
    ],
    [
      'SMTP from other servers: connections of a source; recipients of a message',
      `${limits.SMTP_CONNECTIONS_PER_SOURCE_MAX}; ${limits.RECIPIENTS_PER_MESSAGE_MAX}`,
    ],
  ]);
});

test('docs/mail.md says the ports of the listeners, and where docker-compose.yml maps them', () => {
  const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
  // The table of settings is written from the settings themselves.
  const settings = new Map(
    [...read('docs/configuration.md').matchAll(/^\| `(\w+_PORT)` \|[^|]*\| `(\d+)` \|/gm)].map(([, name, port]) => [
      name,
      port,
    ]),
  );
  const mapped = new Map(
    [...read('docker-compose.yml').matchAll(/^\s+- "(\d+):(\d+)"/gm)].map(([, outside, inside]) => [inside, outside]),
  );
  const table = document.slice(document.indexOf('| listener | port here'), document.indexOf('TLS 1.2 and later'));
  const documented = [...table.matchAll(/^\| ([^|]+?) \| (\d+) \| (\d+) \| (TLS from the first byte|STARTTLS|STLS)/gm)];
  assert.deepEqual(
    documented.map(([, listener, port, standard, security]) => [listener, port, standard, security]),
    [
      ['IMAP', 'IMAPS_PORT', 'TLS from the first byte'],
      ['IMAP', 'IMAP_PORT', 'STARTTLS'],
      ['POP3', 'POP3S_PORT', 'TLS from the first byte'],
      ['POP3', 'POP3_PORT', 'STLS'],
      ['submission, for sending', 'SUBMISSIONS_PORT', 'TLS from the first byte'],
      ['submission, for sending', 'SUBMISSION_PORT', 'STARTTLS'],
      ['SMTP, mail from other servers', 'SMTP_PORT', 'STARTTLS'],
    ].map(([listener, setting, security]) => {
      const port = settings.get(setting);
      return [listener, port, mapped.get(port), security];
    }),
  );
});
