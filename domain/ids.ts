/**
 * Public identifiers: a prefix that names the kind, and 26 characters of Crockford base32 over a UUIDv7 (RFC 9562).
 *
 * Because the first 48 bits are the time in milliseconds and base32 keeps byte order, ids sort by time as text
 * (collation "C"). The event and delivery tables are partitioned by that order, so an id alone finds its day.
 */
export const ID_PREFIXES = {
  organization: 'org_',
  user: 'usr_',
  member: 'mem_',
  apiKey: 'key_',
  session: 'ses_',
  mailbox: 'mbx_',
  mailboxToken: 'tok_',
  alias: 'als_',
  message: 'msg_',
  thread: 'thr_',
  draft: 'drf_',
  file: 'fil_',
  webhookEndpoint: 'whe_',
  event: 'evt_',
  delivery: 'dlv_',
  consent: 'con_',
  listEntry: 'lst_',
  suppression: 'sup_',
  domain: 'dom_',
  audit: 'aud_',
  invitation: 'inv_',
  recovery: 'rcv_',
  notice: 'ntc_',
  approvalLink: 'apl_',
  passwordReset: 'pwr_',
  deviceSignIn: 'dsi_',
  signInChallenge: 'sic_',
  passkey: 'pky_',
  passkeyCeremony: 'pkc_',
  oidcIdentity: 'oid_',
  oidcSignIn: 'ois_',
  oauthRequest: 'oar_',
  oauthGrant: 'oag_',
  oauthClient: 'oac_',
  roleMail: 'rml_',
  receiver: 'rcp_',
  receivedRequest: 'rrq_',
  request: 'req_',
  mailRefusal: 'mrf_',
  standingApproval: 'sta_',
  decisionRule: 'rul_',
  erasure: 'ers_',
  domainReport: 'drp_',
  legalHold: 'lgh_',
  operatorUse: 'opu_',
  move: 'mov_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const BODY_LENGTH = 26;
const UUID_BYTES = 16;

/** Crockford base32 of 16 bytes, most significant bits first: 26 characters, the first of which is 0–7. */
export function encodeIdBody(uuid: Uint8Array): string {
  if (uuid.length !== UUID_BYTES) throw new RangeError(`an id body is made of ${UUID_BYTES} bytes`);
  let value = 0n;
  for (const byte of uuid) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < BODY_LENGTH; i++) {
    text = ALPHABET.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return text;
}

/** The smallest id body a UUIDv7 made at this time could have: the bound of a partition or of a time filter. */
export function firstIdBodyAt(timeMs: number): string {
  const bytes = new Uint8Array(UUID_BYTES);
  let rest = Math.max(0, Math.trunc(timeMs));
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return encodeIdBody(bytes);
}

/** Smallest id of a kind at a time, e.g. the lower bound of a day's partition of `deliveries`. */
export const firstIdAt = (kind: IdKind, timeMs: number): string => ID_PREFIXES[kind] + firstIdBodyAt(timeMs);

/** Time of creation of an id in milliseconds since 1970, or undefined when the text is no id. */
export function timeOfIdMs(id: string): number | undefined {
  const body = id.slice(id.indexOf('_') + 1);
  if (body.length !== BODY_LENGTH) return undefined;
  let value = 0n;
  for (const character of body) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return undefined;
    value = (value << 5n) | BigInt(digit);
  }
  return Number(value >> 80n);
}

/** Whether a text has the form of an id of this kind. Says nothing about whether such a row exists. */
export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(ID_PREFIXES[kind]) &&
  text.length === ID_PREFIXES[kind].length + BODY_LENGTH &&
  timeOfIdMs(text) !== undefined;

/** Whether a text has the form of an id of any kind. */
export const isAnyId = (text: string): boolean => Object.keys(ID_PREFIXES).some((kind) => isId(kind as IdKind, text));

/** JSON Schema pattern for an id of this kind. */
export const idPattern = (kind: IdKind): string => `^${ID_PREFIXES[kind]}[0-9a-hjkmnp-tv-z]{26}$`;
