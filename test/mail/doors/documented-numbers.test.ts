import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as limits from '../../../domain/mail-limits.ts';

const document = readFileSync(new URL('../../../docs/mail.md', import.meta.url), 'utf8');
const number = (value: number): string => value.toLocaleString('en-US');
const size = (bytes: number): string =>
  bytes % 1_048_576 === 0
    ? `${bytes / 1_048_576} MiB`
    : bytes % 1_024 === 0
      ? `${bytes / 1_024} KiB`
      : `${bytes} bytes`;
const time = (ms: number): string => (ms > 60_000 ? `${ms / 60_000} min` : `${ms / 1_000} s`);

test('docs/mail.md says the limits that are kept', () => {
  const table = document.slice(document.indexOf('### Limits'), document.indexOf('**Failed logins.**'));
  const documented = [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)]
    .map(([, what = '', value = '']) => [what, value])
    .filter(([what]) => what !== 'limit' && what !== '---');
  const { imap, pop3 } = limits.CONNECTIONS_PER_MAILBOX_MAX;
  assert.deepEqual(documented, [
    ['message, on every door', size(limits.MESSAGE_MAX_BYTES)],
    ['connections of a mailbox: IMAP, POP3', `${imap}, ${pop3} (in each mail process)`],
    [
      'connections of a source address on the doors of mail clients (IPv6: of a /64)',
      `${limits.CLIENT_CONNECTIONS_PER_SOURCE_MAX} (in each mail process)`,
    ],
    [
      'time to log in; IMAP and POP3 without a command',
      `${time(limits.LOGIN_TIMEOUT_MS)}; ${time(limits.IMAP_AUTOLOGOUT_MS)} and ${time(limits.POP3_IDLE_TIMEOUT_MS)}`,
    ],
    [
      'IMAP command line without literals; before login',
      `${size(limits.IMAP_LINE_MAX_BYTES)}; ${size(limits.IMAP_LINE_BEFORE_LOGIN_MAX_BYTES)}`,
    ],
    [
      'IMAP literal that is no message; before login; all of a command',
      `${size(limits.IMAP_LITERAL_MAX_BYTES)}; ${size(limits.IMAP_LITERAL_BEFORE_LOGIN_MAX_BYTES)}; ${size(limits.IMAP_LITERALS_PER_COMMAND_MAX_BYTES)}`,
    ],
    ['messages in one APPEND', number(limits.IMAP_APPEND_MESSAGES_MAX)],
    [
      'IMAP: ranges of a set, search keys, depth of search keys',
      `${number(limits.IMAP_SET_RANGES_MAX)}, ${limits.IMAP_SEARCH_KEYS_MAX}, ${limits.IMAP_SEARCH_DEPTH_MAX}`,
    ],
    [
      'folders, name depth, name length',
      `${number(limits.FOLDERS_MAX)}, ${limits.FOLDER_DEPTH_MAX}, ${limits.FOLDER_NAME_MAX_BYTES} bytes`,
    ],
    [
      'keywords of a message, of a mailbox; length of one',
      `${limits.KEYWORDS_PER_MESSAGE_MAX}, ${limits.KEYWORDS_PER_MAILBOX_MAX}; ${limits.KEYWORD_MAX_CHARACTERS} characters`,
    ],
    ['POP3 command line; SASL answer', `${size(limits.POP3_LINE_MAX_BYTES)}; ${size(limits.POP3_AUTH_LINE_MAX_BYTES)}`],
    ['commands that make no sense', `${limits.BAD_COMMANDS_MAX}, then the connection ends`],
    [
      'a client that does not read what it asked for',
      `is dropped after ${time(limits.STUCK_READER_TIMEOUT_MS)}; at most ${size(limits.WRITE_AHEAD_MAX_BYTES)} are written ahead of it`,
    ],
    [
      'COMPRESS',
      `above ${size(limits.IMAP_INFLATE_RATIO_FROM_BYTES)} inflated, ${limits.IMAP_INFLATE_RATIO_MAX} bytes for each received byte`,
    ],
    [
      'SMTP from other servers: connections of a source; recipients of a message',
      `${limits.SMTP_CONNECTIONS_PER_SOURCE_MAX}; ${limits.RECIPIENTS_PER_MESSAGE_MAX}`,
    ],
  ]);
});

test('docs/mail.md says the ports that the doors open, and where docker-compose.yml maps them', () => {
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
  const table = document.slice(document.indexOf('| door | port here'), document.indexOf('TLS 1.2 and later'));
  const documented = [...table.matchAll(/^\| ([^|]+?) \| (\d+) \| (\d+) \| (TLS from the first byte|STARTTLS|STLS)/gm)];
  assert.deepEqual(
    documented.map(([, door, port, standard, security]) => [door, port, standard, security]),
    [
      ['IMAP', 'IMAPS_PORT', 'TLS from the first byte'],
      ['IMAP', 'IMAP_PORT', 'STARTTLS'],
      ['POP3', 'POP3S_PORT', 'TLS from the first byte'],
      ['POP3', 'POP3_PORT', 'STLS'],
      ['submission, for sending', 'SUBMISSIONS_PORT', 'TLS from the first byte'],
      ['submission, for sending', 'SUBMISSION_PORT', 'STARTTLS'],
      ['SMTP, mail from other servers', 'SMTP_PORT', 'STARTTLS'],
    ].map(([door, setting, security]) => {
      const port = settings.get(setting);
      return [door, port, mapped.get(port), security];
    }),
  );
});
