/** What the dialogues of this process have said and heard, for `coverage.test.ts` to look at. */

export type SessionState = 'not-authenticated' | 'authenticated' | 'selected';

/** A command and its answer. */
export interface Exchange {
  /** The state of the session before the command, from its answers so far. */
  readonly state: SessionState;
  /** In capitals, `UID` included. */
  readonly verb: string;
  /** The command without its tag. */
  readonly text: string;
  readonly status: 'OK' | 'NO' | 'BAD';
  /** Lines of the answer before the tagged one. */
  readonly untagged: readonly string[];
  readonly tagged: string;
}

export const exchanges: Exchange[] = [];
/** Response codes of tagged and untagged lines. */
export const responseCodes = new Set<string>();
/** Words of all CAPABILITY answers. */
export const capabilityWords = new Set<string>();

/** Listens to one connection. */
export class DialogueRecorder {
  #state: SessionState = 'not-authenticated';
  #sent = '';
  #untagged: string[] = [];

  sent(text: string): void {
    this.#sent += text;
  }

  heard(line: string): void {
    const code = /^\S+ (?:OK|NO|BAD|BYE) \[([A-Z0-9-]+)/.exec(line)?.[1];
    if (code !== undefined) responseCodes.add(code);
    const words = /(?:^\* |\[)CAPABILITY ([^\]]*)/.exec(line)?.[1];
    if (words !== undefined)
      for (const word of words.split(' ')) capabilityWords.add(word.replace(/^(APPENDLIMIT)=\d+$/, '$1'));
    if (/^[*+] /.test(line)) {
      if (line.startsWith('* OK [CLOSED]')) this.#state = 'authenticated';
      this.#untagged.push(line);
      return;
    }
    const [, tag = '', status] = /^(\S+) (OK|NO|BAD)(?: |$)/.exec(line) ?? [];
    const at = `\n${this.#sent}`.lastIndexOf(`\n${tag} `);
    // Anything else is the inside of a literal.
    if ((status !== 'OK' && status !== 'NO' && status !== 'BAD') || at < 0) {
      this.#untagged.push(line);
      return;
    }
    const text = this.#sent.slice(at + tag.length + 1).trimEnd();
    const verb = /^(?:UID )?\S+/i.exec(text)?.[0].toUpperCase() ?? '';
    const state = verb === 'SELECT' || verb === 'EXAMINE' ? this.#selectingFrom() : this.#state;
    exchanges.push({ state, verb, text, status, untagged: this.#untagged, tagged: line });
    this.#untagged = [];
    this.#follow(verb, status);
  }

  /** The state before a SELECT whose CLOSED has changed it already. */
  #selectingFrom(): SessionState {
    return this.#untagged.some((line) => line.startsWith('* OK [CLOSED]')) ? 'selected' : this.#state;
  }

  #follow(verb: string, status: string): void {
    if (status === 'BAD') return;
    if (status === 'OK' && ['LOGIN', 'AUTHENTICATE', 'CLOSE', 'UNSELECT'].includes(verb)) this.#state = 'authenticated';
    if (['SELECT', 'EXAMINE'].includes(verb)) this.#state = status === 'OK' ? 'selected' : 'authenticated';
  }
}
