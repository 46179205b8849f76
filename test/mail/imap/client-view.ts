/** What one client comes to believe of its folder, from untagged answers alone, and commands to play at random. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { flagList } from '../../../mail/imap/flags.ts';
import type { MailboxStore } from '../../../mail/store/interface.ts';
import type { Client } from './dialogue.ts';

interface Known {
  uid: number | undefined;
  flags: string | undefined;
}

/** What a client believes, from untagged answers alone. */
export class ClientView {
  readonly messages: Known[] = [];
  readonly client: Client;
  readonly #qresync: boolean;
  #tag = 0;

  constructor(client: Client, qresync: boolean) {
    this.client = client;
    this.#qresync = qresync;
  }

  async run(text: string): Promise<string> {
    const byNumber = /^(FETCH|STORE|SEARCH|SORT)/.test(text);
    const tag = `t${++this.#tag}`;
    const own = this.#ownChange(text);
    const lines = await this.client.command(tag, text);
    for (const line of withLiterals(lines)) this.#hear(line, byNumber);
    const last = lines.at(-1) ?? '';
    if (last.startsWith(`${tag} OK`)) own();
    assert.ok(!last.includes('SERVERBUG') && last.startsWith(`${tag} `), `${text} → ${last}`);
    return last;
  }

  /** A change in silence is the client's to compute. @returns makes it */
  #ownChange(text: string): () => void {
    const [, uid, set = '', change, list = ''] = /^(UID )?STORE (\S+) ([+-]?)FLAGS\.SILENT \((.*)\)$/.exec(text) ?? [];
    if (set === '') return () => undefined;
    const last = uid === undefined ? this.messages.length : (this.messages.at(-1)?.uid ?? 0);
    const targets = this.messages.filter((known, i) => {
      const number = uid === undefined ? i + 1 : (known.uid ?? 0);
      return set.split(',').some((range) => {
        const [a = 0, b = a] = range.split(':').map((bound) => (bound === '*' ? last : Number(bound)));
        return number >= Math.min(a, b) && number <= Math.max(a, b);
      });
    });
    const named = list.split(' ').filter((flag) => flag !== '');
    return () => {
      for (const known of targets) {
        const before = (known.flags ?? '').split(' ');
        if (change === '+') known.flags = sorted([...new Set([...before, ...named])].join(' '));
        else if (change === '-') known.flags = sorted(before.filter((flag) => !named.includes(flag)).join(' '));
        else known.flags = sorted(named.join(' '));
      }
    };
  }

  #hear(line: string, byNumber: boolean): void {
    const exists = /^\* (\d+) EXISTS$/.exec(line);
    if (exists !== null) {
      assert.ok(Number(exists[1]) >= this.messages.length, 'EXISTS fell');
      while (this.messages.length < Number(exists[1])) this.messages.push({ uid: undefined, flags: undefined });
      return;
    }
    const expunged = /^\* (\d+) EXPUNGE$/.exec(line);
    if (expunged !== null) {
      assert.ok(!byNumber, 'EXPUNGE during a command by number');
      assert.ok(!this.#qresync, 'EXPUNGE although QRESYNC is on');
      const number = Number(expunged[1]);
      assert.ok(number >= 1 && number <= this.messages.length, 'EXPUNGE of no message');
      this.messages.splice(number - 1, 1);
      return;
    }
    const vanished = /^\* VANISHED ([\d:,]+)$/.exec(line);
    if (vanished !== null) {
      assert.ok(!byNumber && this.#qresync);
      const gone = new Set(
        (vanished[1] ?? '').split(',').flatMap((range) => {
          const [low = 0, high = low] = range.split(':').map(Number);
          return Array.from({ length: high - low + 1 }, (_, i) => low + i);
        }),
      );
      // Messages whose UID is not known yet are told by UID too: they are asked for first.
      for (let i = this.messages.length - 1; i >= 0; i--) {
        const { uid } = this.messages[i] ?? { uid: undefined };
        if (uid !== undefined && gone.has(uid)) this.messages.splice(i, 1);
      }
      return;
    }
    const fetched = /^\* (\d+) FETCH \((.*)\)$/s.exec(line);
    if (fetched !== null) {
      const known = this.messages[Number(fetched[1]) - 1];
      assert.ok(known !== undefined, `FETCH of no message: ${line}`);
      const uid = /UID (\d+)/.exec(fetched[2] ?? '')?.[1];
      if (uid !== undefined) {
        assert.ok(known.uid === undefined || known.uid === Number(uid), 'a number changed its UID untold');
        known.uid = Number(uid);
      }
      const flags = /FLAGS \(([^)]*)\)/.exec(fetched[2] ?? '')?.[1];
      if (flags !== undefined) known.flags = sorted(flags);
    }
  }

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
const flagChange = fc
  .tuple(
    fc.constantFrom('FLAGS', '+FLAGS', '-FLAGS', '+FLAGS.SILENT', '-FLAGS.SILENT', 'FLAGS.SILENT'),
    fc.subarray(FLAGS),
  )
  .map(([item, flags]) => `${item} (${flags.join(' ')})`);
export const randomCommand = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(set, flagChange).map(([numbers, change]) => `STORE ${numbers} ${change}`) },
  { weight: 3, arbitrary: fc.tuple(set, flagChange).map(([numbers, change]) => `UID STORE ${numbers} ${change}`) },
  fc.constant('EXPUNGE'),
  fc.constant('NOOP'),
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
export async function checkView(view: ClientView, store: MailboxStore, folderId: number): Promise<void> {
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
