import { ok, type Pop3Command } from '#pop3/command.ts';

/** RFC 1939 §4 and §6: in the transaction state it deletes the marked messages. If it fails, nothing is deleted. */
export const quit: Pop3Command = {
  verb: 'QUIT',
  states: ['authorization', 'transaction'],
  async run({ maildrop }) {
    const deleted = (await maildrop?.commit()) ?? 0;
    return ok(deleted > 0 ? `Bye, ${deleted} deleted` : 'Bye', { then: 'end' });
  },
};
