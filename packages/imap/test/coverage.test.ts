/**
 * Looks at what was said in all dialogues, which run before it in the same process: nothing that the server knows may
 * go without a dialogue. The lists come from the code and from what is announced, the dialogues from the wire.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ANY_STATE } from '#imap/command.ts';
import { COMMANDS } from '#imap/command-table.ts';
import { STATUS_ITEMS } from '#imap/commands/status-and-quota.ts';
import { FETCH_MACROS, SIMPLE_ITEMS } from '#imap/fetch/fetch-items.ts';
import { SEARCH_KEYS } from '#imap/search/search-messages.ts';
import type { State } from '#imap/session/session.ts';
import { capabilityWords, type Exchange, exchanges, responseCodes } from './recorded-dialogues.ts';

const here = new URL('.', import.meta.url);
const DIALOGUES = readdirSync(here).filter(
  (name) => name.endsWith('.test.ts') && !/coverage|corpus|properties|model|regression/.test(name),
);
for (const name of DIALOGUES) await import(new URL(name, here).href);

const answered = (verb: RegExp, text = /^/, untagged = /^/): Exchange[] =>
  exchanges.filter(
    (each) =>
      each.status === 'OK' &&
      verb.test(each.verb) &&
      text.test(each.text) &&
      (untagged.source === '^' || each.untagged.some((line) => untagged.test(line))),
  );
const isAnswered = (verb: RegExp, text?: RegExp, untagged?: RegExp): boolean =>
  answered(verb, text, untagged).length > 0;
/** Without quoted text. */
const bare = (text: string): string => text.replace(/"[^"]*"/g, '""');
const escaped = (text: string): string => text.replace(/[.[\]()<>+]/g, '\\$&');

test('every command is answered in every state it is allowed in, and refused in one where it is not', () => {
  const missing: string[] = [];
  const has = (verb: string, state: State, status: string) =>
    exchanges.some((each) => each.verb === verb && each.state === state && each.status === status);
  for (const { verb, states, uid } of COMMANDS.values()) {
    for (const state of states) if (!has(verb, state, 'OK')) missing.push(`${verb} in state ${state}`);
    if (uid && !has(`UID ${verb}`, 'selected', 'OK')) missing.push(`UID ${verb}`);
    const others = ANY_STATE.filter((state) => !states.includes(state));
    if (others.length > 0 && !others.some((state) => has(verb, state, 'BAD')))
      missing.push(`${verb} refused in one of the states ${others.join(', ')}`);
  }
  assert.deepEqual(missing, []);
});

/** A dialogue that uses what a word announces. */
const USES: Readonly<Record<string, () => boolean>> = {
  IMAP4rev1: () => isAnswered(/^SELECT$/, /^/, /^\* \d+ RECENT$/),
  IMAP4rev2: () => isAnswered(/^ENABLE$/, /IMAP4rev2/i, /^\* ENABLED .*IMAP4rev2/),
  'LITERAL+': () => isAnswered(/^APPEND$/, /\{\d+\+\}\r?\n/),
  'SASL-IR': () => isAnswered(/^AUTHENTICATE$/, /^AUTHENTICATE PLAIN \S+/),
  ID: () => isAnswered(/^ID$/, /\("name"/, /^\* ID \(/),
  ENABLE: () => isAnswered(/^ENABLE$/),
  STARTTLS: () => isAnswered(/^STARTTLS$/),
  LOGINDISABLED: () => exchanges.some(({ verb, tagged }) => verb === 'LOGIN' && tagged.includes('[PRIVACYREQUIRED]')),
  'AUTH=PLAIN': () => isAnswered(/^AUTHENTICATE$/, /PLAIN/),
  'AUTH=LOGIN': () => isAnswered(/^AUTHENTICATE$/, /LOGIN/),
  'AUTH=OAUTHBEARER': () => isAnswered(/^AUTHENTICATE$/, /OAUTHBEARER/),
  'AUTH=XOAUTH2': () => isAnswered(/^AUTHENTICATE$/, /XOAUTH2/),
  IDLE: () => isAnswered(/^IDLE$/, /^/, /^\* \d+ EXISTS/),
  NAMESPACE: () => isAnswered(/^NAMESPACE$/, /^/, /^\* NAMESPACE /),
  CHILDREN: () => isAnswered(/^LIST$/, /^/, /\\HasChildren/) && isAnswered(/^LIST$/, /^/, /\\HasNoChildren/),
  UNSELECT: () => isAnswered(/^UNSELECT$/),
  UIDPLUS: () => isAnswered(/^UID EXPUNGE$/) && responseCodes.has('APPENDUID') && responseCodes.has('COPYUID'),
  MOVE: () => isAnswered(/^MOVE$/) && isAnswered(/^UID MOVE$/),
  CONDSTORE: () => isAnswered(/^STORE$/, /UNCHANGEDSINCE/) && isAnswered(/^FETCH$/, /CHANGEDSINCE/),
  QRESYNC: () => isAnswered(/^SELECT$/, /QRESYNC/, /^\* VANISHED \(EARLIER\)/),
  ESEARCH: () => isAnswered(/^SEARCH$/, /RETURN/, /^\* ESEARCH \(TAG/),
  SEARCHRES: () => isAnswered(/^SEARCH$/, /RETURN \(SAVE/) && isAnswered(/^FETCH$/, /\$/, /^\* \d+ FETCH/),
  WITHIN: () => isAnswered(/^SEARCH$/, /YOUNGER/) && isAnswered(/^SEARCH$/, /OLDER/),
  'LIST-EXTENDED': () => isAnswered(/^LIST$/, /RECURSIVEMATCH/, /"CHILDINFO"/),
  'LIST-STATUS': () => isAnswered(/^LIST$/, /RETURN \(.*STATUS/, /^\* STATUS/),
  'SPECIAL-USE': () => isAnswered(/^LIST$/, /\(SPECIAL-USE\)/, /\\Sent/),
  'CREATE-SPECIAL-USE': () => isAnswered(/^CREATE$/, /\(USE \(\\/),
  'STATUS=SIZE': () => isAnswered(/^STATUS$/, /SIZE/, /SIZE \d+/),
  QUOTA: () => isAnswered(/^GETQUOTAROOT$/, /^/, /^\* QUOTA /) && responseCodes.has('OVERQUOTA'),
  'QUOTA=RES-STORAGE': () => isAnswered(/^GETQUOTA$/, /^/, /STORAGE \d+ \d+/),
  BINARY: () => isAnswered(/^FETCH$/, /BINARY\.PEEK\[/, /BINARY\[.*~\{/) && isAnswered(/^APPEND$/, /~\{/),
  MULTIAPPEND: () => exchanges.some(({ tagged }) => /\[APPENDUID \d+ \d+:\d+\]/.test(tagged)),
  OBJECTID: () => isAnswered(/^FETCH$/, /EMAILID/, /EMAILID \(/) && responseCodes.has('MAILBOXID'),
  PREVIEW: () => isAnswered(/^FETCH$/, /PREVIEW \(LAZY\)/, /PREVIEW "/),
  SAVEDATE: () => isAnswered(/FETCH$/, /SAVEDATE/, /SAVEDATE "/),
  'UTF8=ACCEPT': () => isAnswered(/^ENABLE$/, /UTF8=ACCEPT/) && isAnswered(/^APPEND$/, /UTF8 \(~\{/),
  SORT: () => isAnswered(/^SORT$/, /^SORT \(/, /^\* SORT \d/),
  'SORT=DISPLAY': () => isAnswered(/^SORT$/, /DISPLAYFROM/) && isAnswered(/^SORT$/, /DISPLAYTO/),
  ESORT: () => isAnswered(/SORT$/, /RETURN \(/, /^\* ESEARCH/),
  'THREAD=REFERENCES': () => isAnswered(/^THREAD$/, /REFERENCES/, /^\* THREAD \(/),
  'THREAD=ORDEREDSUBJECT': () => isAnswered(/^THREAD$/, /ORDEREDSUBJECT/, /^\* THREAD \(/),
  REPLACE: () => isAnswered(/^REPLACE$/, /^/, /\[APPENDUID/) && isAnswered(/^UID REPLACE$/),
  'COMPRESS=DEFLATE': () => isAnswered(/^COMPRESS$/, /DEFLATE/),
  XLIST: () => isAnswered(/^XLIST$/, /^/, /\\Spam/),
  APPENDLIMIT: () => isAnswered(/^STATUS$/, /APPENDLIMIT/, /APPENDLIMIT \d+/) && responseCodes.has('TOOBIG'),
};

test('every announced capability is used', () => {
  assert.deepEqual(
    Object.keys(USES).toSorted(),
    [...capabilityWords].toSorted(),
    'a word is announced that no dialogue is named for, or the other way round',
  );
  assert.deepEqual(
    Object.entries(USES)
      .filter(([, isUsed]) => !isUsed())
      .map(([word]) => word),
    [],
  );
});

/**
 * Those of the registry (RFC 9051 §7.1 and the RFCs of the announced capabilities) that occur in the code of the
 * engine.
 */
const REGISTRY =
  'ALERT ALREADYEXISTS APPENDUID AUTHENTICATIONFAILED AUTHORIZATIONFAILED BADCHARSET BADCOMPARATOR BADEVENT BADURL CANNOT CAPABILITY CLIENTBUG CLOSED COMPRESSIONACTIVE CONTACTADMIN COPYUID CORRUPTION EXPIRED EXPUNGEISSUED HASCHILDREN HIGHESTMODSEQ INUSE LIMIT MAILBOXID MAXCONVERTMESSAGES METADATA MODIFIED NEWNAME NOMODSEQ NONEXISTENT NOPERM NOTIFICATIONOVERFLOW NOTSAVED NOUPDATE OVERQUOTA PARSE PERMANENTFLAGS PRIVACYREQUIRED READ-ONLY READ-WRITE REFERRAL SERVERBUG TEMPFAIL TOOBIG TOOMANY TRYCREATE UIDNEXT UIDNOTSTICKY UIDREQUIRED UIDVALIDITY UNAVAILABLE UNDEFINED-FILTER UNKNOWN-CTE UNSEEN URLMECH USEATTR'.split(
    ' ',
  );

test('every response code that the server can send is sent, and documented', () => {
  const folder = new URL('../src/', here);
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
    .join('\n');
  const written = REGISTRY.filter((word) => new RegExp(`['\`[]${word}[ '\`\\]]`).test(code));
  assert.deepEqual([...responseCodes].toSorted(), written.toSorted());
  const document = readFileSync(new URL('../../../docs/mail.md', here), 'utf8');
  const documented = /^IMAP response codes: `([^`]+)`/m.exec(document)?.[1]?.split(' ') ?? [];
  assert.deepEqual(documented, [...responseCodes].toSorted());
});

test('every item of FETCH is fetched', () => {
  const missing = [
    ...SIMPLE_ITEMS.filter(
      (item) =>
        !isAnswered(
          /FETCH$/,
          new RegExp(`[ (]${escaped(item)}(?:[ )]|$)`, 'i'),
          new RegExp(`^\\* \\d+ FETCH \\((?:.*[ )])?${escaped(item)} `),
        ),
    ),
    ...Object.keys(FETCH_MACROS).filter((macro) => !isAnswered(/^FETCH$/, new RegExp(` ${macro}$`), /FETCH/)),
    ...[
      'BODY[]',
      'BODY.PEEK[]',
      'BODY.PEEK[1]',
      'BODY.PEEK[1.MIME]',
      'BODY.PEEK[HEADER]',
      'BODY.PEEK[2.HEADER]',
      'BODY.PEEK[TEXT]',
      'BODY.PEEK[2.TEXT]',
      'BODY.PEEK[HEADER.FIELDS ',
      'BODY.PEEK[HEADER.FIELDS.NOT ',
      'BODY.PEEK[3]<1.2>',
      'BINARY[',
      'BINARY.PEEK[',
      'BINARY.SIZE[',
      '(CHANGEDSINCE ',
    ].filter((item) => !isAnswered(/^FETCH$/, new RegExp(escaped(item)), /^\* \d+ FETCH/)),
    ...[' VANISHED)'].filter((item) => !isAnswered(/^UID FETCH$/, new RegExp(escaped(item)), /VANISHED \(EARLIER\)/)),
  ];
  assert.deepEqual(missing, []);
});

test('every item of STATUS is asked for and answered', () => {
  assert.deepEqual(
    STATUS_ITEMS.filter((item) => !isAnswered(/^STATUS$/, new RegExp(`[ (]${item}[ )]`), new RegExp(`[ (]${item} `))),
    [],
  );
});

test('every search key finds something', () => {
  const isFound = ({ untagged }: Exchange) =>
    untagged.some((line) => /^\* (?:SEARCH \d|SORT \d|ESEARCH .*\d)/.test(line));
  const searches = exchanges
    .filter(({ verb, status }) => /SEARCH$|SORT$/.test(verb) && status === 'OK')
    .filter(isFound);
  const missing = SEARCH_KEYS.filter(
    (key) => !searches.some(({ text }) => new RegExp(`[ (]${key}(?:[ )]|$)`).test(bare(text).replace(/^UID /, ''))),
  );
  assert.deepEqual(missing, []);
});
