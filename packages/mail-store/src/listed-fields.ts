/**
 * The header fields that mail clients ask for when they open a folder (`FETCH … BODY.PEEK[HEADER.FIELDS (…)]`). A store
 * keeps the lines of these fields apart from the message, so that no list reads the messages themselves.
 */

/** Fields in the requests of clients as they are set up by default, lower-cased. */
export const CLIENT_REQUESTS: Readonly<Record<string, string>> = {
  Thunderbird:
    'from to cc bcc subject date message-id priority x-priority references newsgroups in-reply-to content-type reply-to',
  'Apple Mail, iOS':
    'date subject from to cc message-id in-reply-to references content-type x-priority x-uniform-type-identifier x-universally-unique-identifier list-id list-unsubscribe list-unsubscribe-post bimi-indicator bimi-location x-bimi-indicator-hash authentication-results dkim-signature',
  Outlook:
    'from to cc bcc subject date message-id in-reply-to references content-type importance x-priority x-msmail-priority',
  'mutt, NeoMutt':
    'date from sender subject to cc message-id references content-type content-description in-reply-to reply-to lines list-post x-label x-original-to autocrypt',
  mbsync: 'x-tuid message-id',
  'K-9 Mail, Thunderbird for Android':
    'date subject from content-type to cc bcc reply-to message-id references in-reply-to list-post list-unsubscribe sender x-k9mail-identity chat-version',
  'Delta Chat':
    'message-id date x-microsoft-original-message-id from in-reply-to references chat-version auto-submitted autocrypt-setup-message',
  Roundcube:
    'date from to subject content-type cc reply-to list-post disposition-notification-to x-priority message-id references in-reply-to sender bcc mail-followup-to mail-reply-to return-path x-draft-info',
  imapflow: 'references list-id list-unsubscribe auto-submitted',
};

/**
 * Every listed field, by its number in stored indexes: numbers never change, new fields are added at the end with a
 * migration that has the indexes made again. With `+`: its lines are long.
 */
const FIELDS: readonly string[] = `
  date from sender reply-to to cc bcc subject message-id in-reply-to references content-type
  content-description priority x-priority x-msmail-priority importance newsgroups lines list-id list-post
  x-label x-original-to x-uniform-type-identifier x-universally-unique-identifier x-tuid x-k9mail-identity
  x-draft-info x-microsoft-original-message-id chat-version auto-submitted autocrypt-setup-message
  disposition-notification-to mail-followup-to mail-reply-to return-path list-unsubscribe+
  list-unsubscribe-post+ bimi-indicator+ bimi-location+ x-bimi-indicator-hash+ authentication-results+
  dkim-signature+ autocrypt+
`
  .trim()
  .split(/\s+/);

/** Lower-cased names of the listed fields. */
export const LISTED_FIELDS: readonly string[] = FIELDS.map((field) => field.replace('+', ''));

interface ListedField {
  /** From 1, below 256. */
  readonly number: number;
  /** Signatures and the like, which few clients ask for: stored apart from the others. */
  readonly long: boolean;
}

const BY_NAME: ReadonlyMap<string, ListedField> = new Map(
  LISTED_FIELDS.map((name, i) => [name, { number: i + 1, long: FIELDS[i] !== name }]),
);

/** @param name lower-cased */
export const listedField = (name: string): ListedField | undefined => BY_NAME.get(name);
