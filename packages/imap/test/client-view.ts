/** The view that a client builds of its folder from untagged responses only, and random commands. */
import assert from 'node:assert/strict';
import type { MailboxStore } from '@agent-mailbox/mail-store';
import fc from 'fast-check';
import { flagList } from '#imap/wire/values.ts';

interface Known {
  uid: number | undefined;
  flags: string | undefined;
}

/** What a view speaks over; see `dialogue.ts`. */
export interface ViewClient {
  /** All lines up to the tagged answer, that one included. */
  command(tag: string, text: string): Promise<string[]>;
}

/** What a client may ENABLE before it selects. */
export const MODES = ['', 'CONDSTORE', 'QRESYNC', 'IMAP4rev2'] as const;
export type Mode = (typeof MODES)[number];

/** What a client believes, from untagged answers alone. */
export class ClientView<Client extends ViewClient = ViewClient> {
  messages: Known[] = [];
  client: Client;
  readonly folder: string;
  readonly #mode: Mode;
  #uidValidity = 0;
  /** From where a QRESYNC client would ask again. */
  #modseq = 0;
  #tag = 0;

  private constructor(client: Client, mode: Mode, folder: string) {
    this.client = client;
    this.#mode = mode;
    this.folder = folder;
  }

  /** Over a line that has just logged in. */
  static async open<Client extends ViewClient>(client: Client, mode: Mode, folder = 'INBOX') {
    if (mode !== '') await client.command('e', `ENABLE ${mode}`);
    return ClientView.on(client, mode, folder);
  }

  /** Over a line that has enabled its mode, and may have another folder selected. */
  static async on<Client extends ViewClient>(client: Client, mode: Mode, folder: string) {
    const view = new ClientView(client, mode, folder);
    await view.#select();
    return view;
  }

  async run(text: string): Promise<string> {
    const byNumber = /^(FETCH|STORE|SEARCH|SORT|THREAD)/.test(text);
    const own = this.#ownChange(text);
    const { lines, last } = await this.#command(text);
    for (const line of lines) this.#hear(line, byNumber);
    if (last.includes(' OK ')) own(last);
    return last;
  }

  /**
   * Opens the folder again, over another line or after the command that left it. `SELECT`: nothing is to be left, or
   * another folder.
   */
  async reselect(how: 'CLOSE' | 'UNSELECT' | 'SELECT' | Client): Promise<void> {
    if (how === 'SELECT') return this.#select();
    if (typeof how === 'string') {
      const answer = await this.run(how);
      // With that code a client may take for removed what it knows to be \Deleted (RFC 7162 §3.2.8).
      if (how === 'CLOSE' && answer.includes('[HIGHESTMODSEQ'))
        this.messages = this.messages.filter(({ flags }) => !(flags ?? '').split(' ').includes('\\Deleted'));
    } else {
      this.client = how;
      if (this.#mode !== '') await this.run(`ENABLE ${this.#mode}`);
    }
    await this.#select();
  }

  async #command(text: string): Promise<{ lines: string[]; last: string }> {
    const tag = `t${++this.#tag}`;
    const lines = withLiterals(await this.client.command(tag, text));
    const last = lines.at(-1) ?? '';
    assert.ok(!last.includes('SERVERBUG') && last.startsWith(`${tag} `), `${text} → ${last}`);
    return { lines, last };
  }

  /** A QRESYNC client says what it knew and believes the rest of it. */
  async #select(): Promise<void> {
    const known = this.messages.filter(({ uid, flags }) => uid !== undefined && flags !== undefined);
    const uids = known.map(({ uid }) => uid).join(',');
    const resync =
      this.#mode === 'QRESYNC' && this.#modseq > 0
        ? ` (QRESYNC (${this.#uidValidity} ${this.#modseq}${uids === '' ? '' : ` ${uids}`}))`
        : '';
    const { lines, last } = await this.#command(`SELECT ${this.folder}${resync}`);
    assert.match(last, / OK \[READ-WRITE\]/);
    const number = (pattern: RegExp) => Number(lines.map((line) => pattern.exec(line)?.[1]).find(Boolean) ?? 0);
    const uidValidity = number(/\[UIDVALIDITY (\d+)\]/);
    const earlier = numbersOf(
      lines.map((line) => /^\* VANISHED \(EARLIER\) (\S+)/.exec(line)?.[1]).find(Boolean) ?? '',
    );
    const kept = resync === '' || uidValidity !== this.#uidValidity ? [] : known;
    this.messages = kept.filter(({ uid }) => uid === undefined || !earlier.has(uid));
    this.#uidValidity = uidValidity;
    this.#modseq = 0;
    for (const line of lines) this.#hear(line, true);
    this.#modseq = number(/\[HIGHESTMODSEQ (\d+)\]/);
    await this.learn();
  }

  /** A change in silence is the client's to compute, but for what `MODIFIED` names. @returns makes it */
  #ownChange(text: string): (answer: string) => void {
    const [, uid, set = '', change, list = ''] =
      /^(UID )?STORE (\S+)(?: \(UNCHANGEDSINCE \d+\))? ([+-]?)FLAGS\.SILENT \((.*)\)$/.exec(text) ?? [];
    if (set === '') return () => undefined;
    const numberOf = (known: Known, i: number) => (uid === undefined ? i + 1 : (known.uid ?? 0));
    const last = uid === undefined ? this.messages.length : (this.messages.at(-1)?.uid ?? 0);
    const targets = this.messages
      .map((known, i) => ({ known, number: numberOf(known, i) }))
      .filter(({ number }) =>
        set.split(',').some((range) => {
          const [a = 0, b = a] = range.split(':').map((bound) => (bound === '*' ? last : Number(bound)));
          return number >= Math.min(a, b) && number <= Math.max(a, b);
        }),
      );
    const named = list.split(' ').filter((flag) => flag !== '');
    return (answer) => {
      const modified = numbersOf(/\[MODIFIED (\S+)\]/.exec(answer)?.[1] ?? '');
      for (const { known, number } of targets) {
        if (modified.has(number)) continue;
        const before = (known.flags ?? '').split(' ');
        if (change === '+') known.flags = sorted([...new Set([...before, ...named])].join(' '));
        else if (change === '-') known.flags = sorted(before.filter((flag) => !named.includes(flag)).join(' '));
        else known.flags = sorted(named.join(' '));
      }
    };
  }

  #hear(line: string, byNumber: boolean): void {
    const highest = /^(?:\* OK|t\d+ OK) \[HIGHESTMODSEQ (\d+)\]/.exec(line);
    if (highest !== null) this.#modseq = Number(highest[1]);
    const exists = /^\* (\d+) EXISTS$/.exec(line);
    if (exists !== null) {
      assert.ok(Number(exists[1]) >= this.messages.length, 'EXISTS fell');
      while (this.messages.length < Number(exists[1])) this.messages.push({ uid: undefined, flags: undefined });
      return;
    }
    const expunged = /^\* (\d+) EXPUNGE$/.exec(line);
    if (expunged !== null) {
      assert.ok(!byNumber, 'EXPUNGE during a command by number');
      assert.ok(this.#mode !== 'QRESYNC', 'EXPUNGE although QRESYNC is on');
      const number = Number(expunged[1]);
      assert.ok(number >= 1 && number <= this.messages.length, 'EXPUNGE of no message');
      this.messages.splice(number - 1, 1);
      return;
    }
    const vanished = /^\* VANISHED ([\d:,]+)$/.exec(line);
    if (vanished !== null) {
      assert.ok(!byNumber && this.#mode === 'QRESYNC');
      const gone = numbersOf(vanished[1] ?? '');
      const vanishedUids = new Set<number>();
      for (const { uid } of this.messages) if (uid !== undefined && gone.delete(uid)) vanishedUids.add(uid);
      this.messages = this.messages.filter(({ uid }) => uid === undefined || !vanishedUids.has(uid));
      // A message may go before the client has asked for its UID: then it is one of those between its neighbours.
      for (const uid of gone) {
        const above = this.messages.findIndex((known) => (known.uid ?? 0) > uid);
        const at = this.messages.findLastIndex((known, i) => known.uid === undefined && (above < 0 || i < above));
        assert.ok(at >= 0 && at > this.messages.findLastIndex((known) => (known.uid ?? uid) < uid), `VANISHED ${uid}`);
        this.messages.splice(at, 1);
      }
      return;
    }
    const status = new RegExp(`^\\* STATUS ${this.folder} \\(MESSAGES (\\d+)`).exec(line);
    if (status !== null) assert.equal(Number(status[1]), this.messages.length, 'STATUS knows more than was reported');
    const announced = /^\* FLAGS \((.*)\)$/.exec(line)?.[1];
    if (announced !== undefined) this.#keywords = new Set(announced.toLowerCase().split(' '));
    const fetched = /^\* (\d+) FETCH \((.*)\)$/s.exec(line);
    if (fetched !== null) {
      const known = this.messages[Number(fetched[1]) - 1];
      assert.ok(known !== undefined, `FETCH of no message: ${line}`);
      const uid = /UID (\d+)/.exec(fetched[2] ?? '')?.[1];
      if (uid !== undefined) {
        assert.ok(known.uid === undefined || known.uid === Number(uid), 'a number changed its UID unreported');
        known.uid = Number(uid);
      }
      const flags = /FLAGS \(([^)]*)\)/.exec(fetched[2] ?? '')?.[1];
      if (flags !== undefined) {
        known.flags = sorted(flags);
        for (const flag of flags.split(' '))
          assert.ok(/^\\|^$/.test(flag) || this.#keywords.has(flag.toLowerCase()), `not announced by FLAGS: ${flag}`);
      }
      this.#modseq = Math.max(this.#modseq, Number(/MODSEQ \((\d+)\)/.exec(fetched[2] ?? '')?.[1] ?? 0));
    }
  }

  /** Of the last FLAGS, lower-cased. */
  #keywords: ReadonlySet<string> = new Set();

  /** New messages are asked for, as every client does. */
  async learn(): Promise<void> {
    if (this.messages.some(({ uid, flags }) => uid === undefined || flags === undefined))
      await this.run('FETCH 1:* (UID FLAGS)');
  }

  async synchronize(): Promise<void> {
    await this.learn();
    await this.run('NOOP');
    await this.learn();
    await this.run('NOOP');
  }
}

/** Numbers of a printed set without `*`. */
function numbersOf(set: string): Set<number> {
  return new Set(
    set
      .split(',')
      .filter((range) => range !== '')
      .flatMap((range) => {
        const [low = 0, high = low] = range.split(':').map(Number);
        return Array.from({ length: high - low + 1 }, (_, i) => low + i);
      }),
  );
}

/** Joins the lines of an answer that holds literals; the literals are left out. */
function withLiterals(lines: readonly string[]): string[] {
  const answers: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    let answer = lines[i] ?? '';
    for (let size = /\{(\d+)\}$/.exec(answer)?.[1]; size !== undefined; size = /\{(\d+)\}$/.exec(answer)?.[1]) {
      answer = answer.slice(0, answer.lastIndexOf('{'));
      let left = Number(size);
      for (i++; left >= (lines[i] ?? '').length + 2; i++) left -= (lines[i] ?? '').length + 2;
      answer += (lines[i] ?? '').slice(left);
    }
    answers.push(answer);
  }
  return answers;
}

export const sorted = (flags: string): string =>
  flags
    .split(' ')
    .filter((flag) => flag !== '' && flag !== '\\Recent')
    .sort()
    .join(' ');

const FLAGS = ['\\Seen', '\\Deleted', '\\Flagged', 'work', 'Home'];
const set = fc.constantFrom('1', '2', '1:2', '2:4', '1:*', '*', '3:*', '1,3');
const modseq = fc.integer({ min: 1, max: 40 });
const flagChange = fc
  .tuple(
    fc.constantFrom('FLAGS', '+FLAGS', '-FLAGS', '+FLAGS.SILENT', '-FLAGS.SILENT', 'FLAGS.SILENT'),
    fc.subarray(FLAGS),
  )
  .map(([item, flags]) => `${item} (${flags.join(' ')})`);
export const randomCommand = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(set, flagChange).map(([numbers, change]) => `STORE ${numbers} ${change}`) },
  { weight: 3, arbitrary: fc.tuple(set, flagChange).map(([numbers, change]) => `UID STORE ${numbers} ${change}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('', 'UID '), set, modseq, flagChange)
      .map(([uid, numbers, since, change]) => `${uid}STORE ${numbers} (UNCHANGEDSINCE ${since}) ${change}`),
  },
  fc.tuple(set, modseq).map(([numbers, since]) => `FETCH ${numbers} (FLAGS) (CHANGEDSINCE ${since})`),
  fc.tuple(set, modseq).map(([numbers, since]) => `UID FETCH ${numbers} (FLAGS) (CHANGEDSINCE ${since} VANISHED)`),
  fc.constantFrom(
    'EXPUNGE',
    'NOOP',
    'CHECK',
    'IDLE\r\nDONE',
    'SEARCH RETURN (SAVE) UNSEEN',
    'UID STORE $ +FLAGS (saved)',
    'COPY $ Archive',
    'MOVE $ INBOX',
    'THREAD REFERENCES UTF-8 ALL',
    'STATUS INBOX (MESSAGES UNSEEN)',
    'LIST "" INBOX RETURN (STATUS (MESSAGES))',
    'RENAME INBOX "as it was"',
  ),
  set.map((numbers) => `UID EXPUNGE ${numbers}`),
  set.map((numbers) => `COPY ${numbers} INBOX`),
  set.map((numbers) => `UID COPY ${numbers} INBOX`),
  set.map((numbers) => `MOVE ${numbers} INBOX`),
  set.map((numbers) => `UID MOVE ${numbers} Archive`),
  set.map((numbers) => `FETCH ${numbers} (FLAGS UID)`),
  set.map((numbers) => `FETCH ${numbers} (BODY[])`),
  set.map((numbers) => `UID FETCH ${numbers} (BODY[TEXT] FLAGS)`),
  set.map((numbers) => `UID SEARCH ${numbers}`),
  fc.constant('SEARCH UNSEEN'),
  fc.constant('SORT (SIZE) UTF-8 ALL'),
  set.map((numbers) => `UID REPLACE ${numbers.replace(/[,:].*/, '')} INBOX {3+}\r\nabc`),
  fc.constant('APPEND INBOX (\\Flagged) {3+}\r\nabc'),
);
/** Brings the client up to date and compares what it believes with the store. */
export async function checkView(view: ClientView, store: Pick<MailboxStore, 'view'>, folderId: number): Promise<void> {
  await view.synchronize();
  const now = await store.view(folderId, false);
  assert.ok(now !== undefined);
  assert.deepEqual(
    view.messages.map(({ uid }) => uid),
    [...now.uids],
  );
  const stored = Array.from(now.uids, (uid, i) =>
    sorted(flagList(now.flags[i] ?? 0, now.keywords.get(uid) ?? [], false).slice(1, -1)),
  );
  assert.deepEqual(
    view.messages.map(({ flags }) => flags),
    stored,
  );
}
