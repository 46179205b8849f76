/** The forms that settings can have: how the text of an environment variable is read, and how its form is described. */
import { type CapabilityHiding, parseCapabilityHiding } from '@agent-mailbox/imap/capabilities';
import ipaddr from 'ipaddr.js';
import type { SecretsKey } from '#core/platform/secrets/sealed-secrets.ts';
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from '#domain/access/credential-format.ts';
import { RETRY_DELAYS_MS } from '#domain/webhooks/retry-ladder.ts';

/** A setting: its document and its parser. */
export interface Setting<Value> {
  readonly group: SettingGroup;
  /** Meaning, unit, and when to change it. */
  readonly text: string;
  /** The accepted values, for the document and the error message. */
  readonly takes: string;
  /** Text form of the default; undefined: unset. */
  readonly fallback?: string;
  readonly secret?: boolean;
  /** Returns undefined when the text is not of the form `takes` describes. */
  parse(text: string): Value | undefined;
}

export const SETTING_GROUPS = [
  'Process',
  'PostgreSQL',
  'Temporal',
  'API',
  'Single sign-on',
  'Contents of mail',
  'Secrets',
  'Mail',
  'Certificates',
  'Webhooks',
] as const;
type SettingGroup = (typeof SETTING_GROUPS)[number];

export type Form<Value> = Pick<Setting<Value>, 'takes' | 'parse'>;

export const text: Form<string> = { takes: 'text', parse: (value) => value };
export const flag: Form<boolean> = {
  takes: '`true` or `false`',
  parse: (value) => (value === 'true' ? true : value === 'false' ? false : undefined),
};
export const integer = (min: number, max: number): Form<number> => ({
  takes: `a whole number from ${min} to ${max}`,
  parse(value) {
    const number = Number(value);
    return /^\d+$/.test(value) && number >= min && number <= max ? number : undefined;
  },
});
export const port = integer(0, 65_535);
export const password: Form<string> = {
  takes: `${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`,
  parse: (value) => (value.length >= PASSWORD_MIN_LENGTH && value.length <= PASSWORD_MAX_LENGTH ? value : undefined),
};
export const choice = <const Value extends string>(...values: readonly Value[]): Form<Value> => ({
  takes: values.map((value) => `\`${value}\``).join(' or '),
  parse: (value) => values.find((each) => each === value),
});
export const url = (...protocols: string[]): Form<string> => ({
  takes: `a URL starting with ${protocols.map((protocol) => `\`${protocol}//\``).join(' or ')}`,
  parse: (value) => (URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value : undefined),
});
export const list: Form<readonly string[]> = {
  takes: 'a list separated by commas',
  parse: (value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
};
export const cidrs: Form<readonly string[]> = {
  takes: 'CIDR ranges separated by commas',
  parse(value) {
    const ranges = list.parse(value) ?? [];
    return ranges.every((range) => ipaddr.isValidCIDR(range)) ? ranges : undefined;
  },
};
export const milliseconds: Form<readonly number[]> = {
  takes: 'whole numbers separated by commas',
  parse(value) {
    const numbers = (list.parse(value) ?? []).map(Number);
    return numbers.every((number) => Number.isInteger(number) && number >= 0) ? numbers : undefined;
  },
};
export const fourWaits: Form<readonly number[]> = {
  takes: 'four whole numbers separated by commas',
  parse(value) {
    const waits = milliseconds.parse(value);
    return waits?.length === 0 || waits?.length === RETRY_DELAYS_MS.length ? waits : undefined;
  },
};
export const capabilityHiding: Form<readonly CapabilityHiding[]> = {
  takes:
    '`<client>: <capability> …`, several separated by `;`, where `*` in the client stands for any text and each capability is one of those in docs/mail.md except IMAP4rev1, STARTTLS and LOGINDISABLED',
  parse: parseCapabilityHiding,
};
const KEY_BYTES = 32;
export const secretBytes: Form<Buffer> = {
  takes: `base64 of at least ${KEY_BYTES} random bytes (\`openssl rand -base64 ${KEY_BYTES}\`)`,
  parse(value) {
    const bytes = Buffer.from(value, 'base64');
    return bytes.length >= KEY_BYTES ? bytes : undefined;
  },
};
export const secretKeys: Form<readonly SecretsKey[]> = {
  takes: `\`<id>:<base64 of ${KEY_BYTES} random bytes>\`, several separated by commas, the newest first`,
  parse(value) {
    const keys = value.split(',').map((item) => {
      const [, id = '', encoded = ''] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_=-]+)$/.exec(item.trim()) ?? [];
      return { id, key: Buffer.from(encoded, 'base64') };
    });
    return keys.every(({ id, key }) => id !== '' && key.length === KEY_BYTES) ? keys : undefined;
  },
};

/** A row of the table: the form of its values, and the rest. */
export const setting = <Value, const Rest extends Omit<Setting<Value>, 'takes' | 'parse' | 'group'>>(
  form: Form<Value>,
  rest: Rest,
) => ({
  ...form,
  ...rest,
});

/** Settings of one group of the document. */
export const inGroup = <const Table extends Readonly<Record<string, Omit<Setting<unknown>, 'group'>>>>(
  group: SettingGroup,
  table: Table,
) =>
  Object.fromEntries(Object.entries(table).map(([name, each]) => [name, { ...each, group }])) as {
    readonly [Name in keyof Table]: Table[Name] & Pick<Setting<unknown>, 'group'>; // each entry gets the group
  };
