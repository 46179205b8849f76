import { bad, messageNumber, noMessage, ok, transactionCommand } from '#pop3/command.ts';
import type { Maildrop, MaildropMessage } from '#pop3/maildrop.ts';

/** A line for each message, or for the one named (LIST, UIDL). */
export const listing = (verb: string, what: string, value: (message: MaildropMessage) => string | number) => {
  const line = (message: MaildropMessage) => `${message.number} ${value(message)}`;
  function* lines(maildrop: Maildrop): Generator<string> {
    for (const message of maildrop.messages()) yield line(message);
  }
  return transactionCommand(verb, (maildrop, argument) => {
    if (argument === '') return ok(`${what} follow`, { lines: lines(maildrop) });
    const number = messageNumber(argument);
    if (number === undefined) return bad(`${verb} takes the number of a message, or nothing`);
    const message = maildrop.message(number);
    return message === undefined ? noMessage(maildrop, number) : ok(line(message));
  });
};

/** RFC 1939 §5: sizes in octets as sent. */
export const list = listing('LIST', 'Sizes', ({ size }) => size);
