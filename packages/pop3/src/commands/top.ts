import { bad, messageNumber, noMessage, ok, refused, transactionCommand } from '#pop3/command.ts';

const LF = 0x0a;
const CR = 0x0d;

/**
 * Header, the blank line, and the given number of lines of the body (RFC 1939 §7).
 *
 * @param bodyLines 0: ends after the blank line
 */
async function* top(content: AsyncIterable<Uint8Array>, bodyLines: number): AsyncGenerator<Uint8Array> {
  let inBody = false;
  let left = bodyLines;
  let lineIsEmpty = true;
  for await (const chunk of content) {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === CR) continue;
      if (byte !== LF) {
        lineIsEmpty = false;
        continue;
      }
      if (inBody) left--;
      else if (lineIsEmpty) inBody = true;
      lineIsEmpty = true;
      if (inBody && left === 0) {
        yield chunk.subarray(0, at + 1);
        return;
      }
    }
    yield chunk;
  }
}

export const topCommand = transactionCommand('TOP', async (maildrop, argument) => {
  const [first = '', second = '', more] = argument.split(/ +/);
  const number = messageNumber(first);
  if (number === undefined || !/^\d{1,9}$/.test(second) || more !== undefined)
    return bad('TOP takes the number of a message and a number of lines');
  const message = maildrop.message(number);
  if (message === undefined) return noMessage(maildrop, number);
  const content = await maildrop.read(message);
  if (content === undefined) return refused(`Message ${number} has been removed meanwhile`);
  return ok('Top of the message follows', { content: top(content, Number(second)) });
});
