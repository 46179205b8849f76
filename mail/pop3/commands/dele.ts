import { bad, messageNumber, noMessage, ok, transactionCommand } from '../command.ts';

/** RFC 1939 §5: a mark, which QUIT carries out. */
export const dele = transactionCommand('DELE', (maildrop, argument) => {
  const number = messageNumber(argument);
  if (number === undefined) return bad('DELE takes the number of a message');
  if (maildrop.message(number) === undefined) return noMessage(maildrop, number);
  maildrop.markDeleted(number);
  return ok(`Message ${number} will be deleted at QUIT`);
});
